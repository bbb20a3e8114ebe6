/** A server that records its requests and a daemon in front of it, with everything that starts before the guards are active. */
import { readFile } from 'node:fs/promises';
import { type AddressInfo, connect, createServer, type Server } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'vitest';
import { initialize } from '../../../gateway/test/mcp/raw-client.js';
import type { Stand } from '../../../gateway/test/mcp/stand.js';
import { openUpstream, type Upstream } from '../../../gateway/test/threats/upstream.js';
import { createHome, type Home } from '../commands/turnbuckle.js';
import { post, type RunningDaemon, startBridge, startDaemon, stateOf } from '../daemon/running-daemon.js';
import {
  ENERGY,
  type Guard,
  itemOf,
  MOVED,
  OTHER_SERVER,
  OWN_RULES,
  type Row,
  RULES,
  SPENT,
  type Who,
} from './table.js';

export interface Stage {
  readonly home: Home;
  readonly url: string;
  readonly upstream: Upstream;
  token(who: Who, guard?: Guard): string;
  /** The daemon's URL for a request with this guard: the daemon limits the number of wrong tokens from one address. */
  urlFor(guard: Guard | undefined): Promise<string>;
  /** The same for the bridge that runs beside the daemon. */
  aloneUrlFor(guard: Guard | undefined): Promise<string>;
  /** The session id of a legacy client; the same for the same path and token. */
  session(path: string, token: string): Promise<string>;
  /** The log rows of this item. */
  rows(item: string): Promise<readonly Row[]>;
  /** The requests for this item that reached the server since the guards are active, except lists. */
  arrived(item: string): readonly string[];
  /** Revokes the tokens for "token revoked"; the owner gets a new one. */
  revoke(): Promise<void>;
  /** Makes the server change its pinned tools, and puts the rules in effect. */
  raiseGuards(): Promise<void>;
  close(): Promise<void>;
}

const ALL = 'mcp_integration';
const CAPABILITIES = { tools: {}, resources: {}, prompts: {} };
const TASK = { status: 'working', createdAt: '2026-01-01T00:00:00Z', ttl: 60_000 };

function openServer(names: readonly string[], hasMoved: () => boolean): Promise<Upstream> {
  const toolOf = (name: string): object => ({
    name,
    description: MOVED.test(name) && hasMoved() ? 'Does something else.' : 'Does it.',
    inputSchema: { type: 'object' },
  });
  return openUpstream({
    answers: {
      initialize: () => ({
        protocolVersion: '2025-11-25',
        capabilities: CAPABILITIES,
        serverInfo: { name: 'up', version: '1' },
      }),
      'tools/list': () => ({ tools: names.map(toolOf) }),
      'tools/call': ({ name, task }) =>
        task === undefined
          ? { content: [{ type: 'text', text: 'called' }] }
          : { task: { taskId: `task of ${name}`, ...TASK } },
      'tasks/cancel': ({ taskId }) => ({ taskId, ...TASK, status: 'cancelled' }),
      'resources/list': () => ({
        resources: names.map((name) => ({ uri: itemOf('resource', name), name })),
      }),
      'resources/read': ({ uri }) => ({ contents: [{ uri, text: 'content' }] }),
      'prompts/list': () => ({ prompts: names.map((name) => ({ name })) }),
      'prompts/get': () => ({ messages: [] }),
      ...Object.fromEntries(names.map((name) => [`own/${name}`, () => ({})])),
    },
  });
}

/** `guards`: the rules, and the budgets once the guards are active. */
const settingsOf = (upstream: Upstream, neighbour: Upstream, guards: object): object => ({
  servers: { up: { url: upstream.url }, neighbour: { url: neighbour.url } },
  ...guards,
  pins: 'all',
  resourceTools: true,
  daemon: {
    // With one place, each endpoint in a request replaces the one before, and connects again when it returns.
    bridge: { urls: [upstream.url], maxEndpoints: 1 },
    views: {
      one: { servers: ['up'] },
      strict: { servers: ['up'], rules: OWN_RULES },
      narrow: { servers: ['up'], capabilities: [OTHER_SERVER] },
    },
  },
});

/** A proxy to a port that connects from another loopback address, where the machine has several. */
async function openDetour(port: number, count: number): Promise<Server> {
  const from = process.platform === 'linux' ? { localAddress: `127.0.0.${2 + (count % 250)}` } : {};
  const server = createServer((here) => {
    const there = connect({ host: '127.0.0.1', port, ...from });
    here.on('error', () => there.destroy()).pipe(there);
    there.on('error', () => here.destroy()).pipe(here);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server.unref();
}

/** Denies every pending approval until the test ends. */
async function denyAll(daemon: () => Pick<RunningDaemon, 'url' | 'token'>, over: AbortSignal): Promise<void> {
  while (!over.aborted) {
    const { approvals = [] } = await get<{ approvals?: readonly { id: string }[] }>(
      daemon(),
      '/api/approvals',
    );
    await Promise.all(approvals.map(({ id }) => post(daemon(), `/api/approvals/${id}`, { answer: 'deny' })));
    await delay(30);
  }
}

async function get<T>({ url, token }: Pick<RunningDaemon, 'url' | 'token'>, path: string): Promise<T> {
  const response = await fetch(url + path, { headers: { authorization: `Bearer ${token}` } });
  return (await response.json()) as T;
}

export async function openStage(names: readonly string[]): Promise<Stage> {
  let hasMoved = false;
  let mark = 0;
  const upstream = await openServer(names, () => hasMoved);
  const neighbour = await openServer(['elsewhere'], () => false);
  const home = await createHome();
  const config = (guards: object) =>
    home.write('.config/turnbuckle/mcp.json', settingsOf(upstream, neighbour, guards));
  await config({ rules: [{ action: 'allow' }] });
  const daemon = await startDaemon([], { home });
  const { url } = daemon;
  const stand = { url } as Stand;
  let owner = { url, token: daemon.token };
  const makeToken = async (name: string, can: string): Promise<string> => {
    const made = await post(owner, '/api/tokens', { name, can: [can], access: ['call', 'read'] });
    return String(Object(made.body).token);
  };
  const tokens = {
    agent: await makeToken('agent', ALL),
    poor: await makeToken('poor', OTHER_SERVER),
    gone: await makeToken('gone', ALL),
    spent: await makeToken(SPENT, ALL),
  };
  const over = new AbortController();
  const denying = denyAll(() => owner, over.signal).catch(() => {});
  const detours: Server[] = [];
  let alone: RunningDaemon | undefined;
  const reach = async (place: string, guard: Guard | undefined): Promise<string> => {
    if (guard !== 'token revoked') return place;
    const detour = await openDetour(Number(new URL(place).port), detours.length);
    detours.push(detour);
    return `http://127.0.0.1:${(detour.address() as AddressInfo).port}`;
  };
  const sessions = new Map<string, Promise<string>>();
  const callInline = (of: Upstream, tool: string) =>
    post(owner, '/mcp/call', { endpoint: { url: of.url }, tool_name: tool });
  for (const server of ['up', 'neighbour']) await post(owner, `/api/servers/${server}/connect`, {});
  // The first call pins the tools of the inline endpoint too.
  await callInline(upstream, names[0] ?? '');
  return {
    home,
    url,
    upstream,
    token: (who, guard) => {
      if (who === 'host') return guard === 'token revoked' ? daemon.token : owner.token;
      if (guard === 'token revoked') return tokens.gone;
      if (guard === 'budget used up') return tokens.spent;
      return guard === 'capability missing' ? tokens.poor : tokens.agent;
    },
    urlFor: (guard) => reach(url, guard),
    aloneUrlFor: (guard) => reach(alone?.url ?? '', guard),
    session: (path, token) => {
      const key = `${path} ${token}`;
      const found = sessions.get(key) ?? initialize(stand, { path, token });
      sessions.set(key, found);
      return found;
    },
    rows: async (item) => {
      const { calls } = await get<{ calls: readonly Row[] }>(
        owner,
        `/api/calls?tool=${encodeURIComponent(item)}`,
      );
      return calls;
    },
    arrived: (item) =>
      upstream.noted
        .slice(mark)
        .filter(({ method, params }) => JSON.stringify([method, params]).includes(`${item}"`))
        .map(({ method }) => method),
    revoke: async () => {
      for (const name of ['gone', 'owner'])
        await fetch(`${url}/api/tokens/${name}`, {
          method: 'DELETE',
          headers: { authorization: `Bearer ${owner.token}` },
        });
      const token = await readFile(`${stateOf({ home })}/daemon-token`, 'utf8');
      owner = { url, token: token.trim() };
      expect(owner.token).not.toBe(daemon.token);
    },
    raiseGuards: async () => {
      hasMoved = true;
      await post(owner, '/api/servers/up/refresh', {});
      await callInline(neighbour, 'elsewhere');
      await config({ rules: RULES, energy: ENERGY });
      // The daemon may notice the file late; the test's own timeout ends an endless wait.
      while ((await get<{ rules: object[] }>(owner, '/api/rules')).rules.length !== RULES.length)
        await delay(30);
      alone = await startBridge(['--port', '0'], { home });
      await post({ ...owner, url: alone.url }, '/mcp/call', { server: 'up', tool_name: names[0] });
      mark = upstream.noted.length;
    },
    close: async () => {
      over.abort();
      await denying;
      await Promise.all([daemon.stop('SIGKILL'), alone?.stop('SIGKILL')]);
      for (const detour of detours) detour.close();
      await Promise.all([upstream.close(), neighbour.close(), home.remove()]);
    },
  };
}
