/** Web pages, other machines and callers that want more than their token gives, against a daemon that can start programs. */
import { existsSync } from 'node:fs';
import { request } from 'node:http';
import { connect } from 'node:net';
import { networkInterfaces } from 'node:os';
import { fixture, temporaryDirectory, waitUntil } from '@turnbuckle/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type OwnDaemon, ownDaemon } from '../daemon/own-daemon.js';

const home = await temporaryDirectory();
const marker = home.file('started');
const COMMAND = ['sh', '-c', `echo started >> '${marker}'`];
const started = (): boolean => existsSync(marker);

let own: OwnDaemon;
let agent: string;
beforeAll(async () => {
  own = await ownDaemon({
    servers: { left: fixture('echo'), right: fixture('echo') },
    daemon: { bridge: { commands: [COMMAND] } },
    toolApprovalRequired: false,
  });
  const made = await own.post('/api/tokens', { name: 'agent', can: ['mcp_integration'], access: ['call'] });
  agent = String(made.body.token);
});
afterAll(async () => {
  await own.close();
  await home.remove();
});

/** Nothing was started, and nothing was configured that would be started. */
function expectNothing(): void {
  expect(started()).toBe(false);
  expect(own.daemon.configured.runtime.status().map(({ name, config }) => [name, config?.type])).toEqual([
    ['left', 'stdio'],
    ['right', 'stdio'],
  ]);
  expect(JSON.stringify(own.daemon.configured.config())).not.toContain('mine');
}

interface Sent {
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly method?: string | undefined;
}

/** The status of a request, also of one that a browser would not send. */
function statusOf({ path, headers = {}, body = '', method = 'POST' }: Sent): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = request(own.daemon.url + path, { method, headers }, (response) => {
      resolve(response.statusCode ?? 0);
      response.destroy();
    });
    sent.on('error', reject).on('upgrade', (_response, socket) => {
      socket.destroy();
      resolve(101);
    });
    sent.end(body);
  });
}

const [command, ...args] = COMMAND;
const INLINE = JSON.stringify({ endpoint: { command, args }, tool_name: 'x' });
/** All requests that start a program. */
const STARTING = (): Sent[] => [
  { path: '/mcp/call', body: INLINE },
  { path: '/mcp/calls', body: `{"calls":[${INLINE}]}` },
  { path: '/api/servers', body: JSON.stringify({ name: 'mine', config: { command, args } }) },
  { path: '/api/servers/left', method: 'PATCH', body: JSON.stringify({ command, args }) },
];
const JSON_TYPE = { 'content-type': 'application/json' };
const token = (): Record<string, string> => ({ authorization: `Bearer ${own.daemon.token}` });

describe('no program is started', () => {
  /** What a page in a browser, or a program without the token, can send. */
  const intruders: Array<[string, () => Record<string, string>]> = [
    ['a client without a token', () => JSON_TYPE],
    ['a form of a page', () => ({ 'content-type': 'text/plain', origin: 'https://evil.example' })],
    ['a page with cookies', () => ({ ...JSON_TYPE, cookie: `token=${own.daemon.token}` })],
    ['a page that has the token', () => ({ ...JSON_TYPE, ...token(), origin: 'https://evil.example' })],
    ['a page in a frame', () => ({ ...JSON_TYPE, ...token(), origin: 'null' })],
    ['a rebound DNS name', () => ({ ...JSON_TYPE, ...token(), host: 'evil.example' })],
    ['a simple request', () => ({ ...token(), 'content-type': 'application/x-www-form-urlencoded' })],
  ];

  it.each(intruders)('for %s', async (_, headers) => {
    for (const one of STARTING()) {
      const status = await statusOf({ ...one, headers: headers() });
      expect({ path: one.path, status }).toEqual({ path: one.path, status: expect.toSatisfy(isRefusal) });
      const queried = await statusOf({
        ...one,
        path: `${one.path}?token=${own.daemon.token}`,
        headers: headers(),
      });
      expect(isRefusal(queried)).toBe(true);
    }
    expectNothing();
  });

  it('by an agent that claims the access', async () => {
    const claims = {
      ...JSON_TYPE,
      authorization: `Bearer ${agent}`,
      'x-scopes': 'admin',
      'x-access': 'admin',
      'x-user': 'owner',
      'x-forwarded-user': 'owner',
    };
    for (const { path, body = '', method } of STARTING().slice(2)) {
      const claimed = JSON.stringify({ ...JSON.parse(body), access: ['admin'], caller: 'owner' });
      for (const text of [body, claimed])
        expect(await statusOf({ path: `${path}?access=admin`, headers: claims, body: text, method })).toBe(
          403,
        );
    }
    expectNothing();
  });

  it('until the owner requests it', async () => {
    await own.post('/mcp/call', JSON.parse(INLINE));
    await waitUntil(started);
  });
});

const isRefusal = (status: number): boolean => status >= 400 && status < 500;

it('there is no WebSocket, for a page or any other client', async () => {
  const key = Buffer.alloc(16, 1).toString('base64');
  const upgrade = {
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': key,
    'sec-websocket-protocol': 'mcp',
  };
  for (const path of ['/', '/mcp', '/api/events', '/health'])
    for (const headers of [{ origin: 'https://evil.example' }, {}, token()]) {
      const status = await statusOf({ path, method: 'GET', headers: { ...upgrade, ...headers } });
      expect({ path, status }).not.toEqual({ path, status: 101 });
    }
});

it('the daemon listens only on the loopback address', async () => {
  const { port, hostname } = new URL(own.daemon.url);
  const reach = (host: string): Promise<boolean> =>
    new Promise((resolve) => {
      const socket = connect(Number(port), host, () => resolve(true));
      socket.on('error', () => resolve(false)).on('close', () => resolve(false));
      socket.setTimeout(2_000, () => socket.destroy());
      socket.on('connect', () => socket.destroy());
    });
  expect(hostname).toBe('127.0.0.1');
  expect(await reach('127.0.0.1')).toBe(true);
  const others = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  // The second exists on Linux, where a server that listens on all interfaces would answer.
  const hosts = ['::1', '127.0.0.2', ...others.map(({ address }) => address)];
  for (const host of hosts.filter((one) => one !== '127.0.0.1'))
    expect({ host, reached: await reach(host) }).toEqual({ host, reached: false });
});

it('no header chooses the server', async () => {
  const pidOf = async (server: string, headers: Record<string, string> = {}): Promise<unknown> => {
    const body = JSON.stringify({ server, tool_name: 'pid' });
    const init = { method: 'POST', headers: { ...JSON_TYPE, ...headers }, body };
    return (await own.fetch('/mcp/call', init)).json();
  };
  const [left, right] = [await pidOf('left'), await pidOf('right')];
  expect(left).not.toEqual(right);
  const names = [
    'x-mcp-server',
    'mcp-server',
    'x-server',
    'x-upstream',
    'x-target',
    'mcp-name',
    'mcp-method',
  ];
  const ways = ['x-original-url', 'x-rewrite-url', 'x-forwarded-host', 'x-forwarded-path', 'forwarded'];
  for (const name of [...names, ...ways]) expect(await pidOf('left', { [name]: 'right' })).toEqual(left);
  const all = Object.fromEntries([...names, ...ways].map((name) => [name, 'right']));
  expect(await pidOf('left', { ...all, 'x-http-method-override': 'GET' })).toEqual(left);
});

it('no token is good at another daemon, and an old one nowhere', async () => {
  const other = await ownDaemon({ servers: {} });
  const mine = own.daemon.token ?? '';
  const status = async (at: OwnDaemon, given: string): Promise<number> =>
    (await at.fetch('/servers', { token: given })).status;
  expect([await status(own, mine), await status(other, mine)]).toEqual([200, 401]);
  expect(await status(own, other.daemon.token ?? '')).toBe(401);
  await other.close();
  expect((await own.fetch('/api/tokens/owner', { method: 'DELETE' })).status).toBe(200);
  expect([await status(own, mine), await status(own, own.daemon.token ?? '')]).toEqual([401, 200]);
});
