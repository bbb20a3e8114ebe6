/** Neither the state of a server nor the names of others distinguish a hidden item from a missing one. */
import { expect, it, onTestFinished } from 'vitest';
import { openUpstream, type Upstream, UpstreamError } from '../threats/upstream.js';
import { modern } from './raw-client.js';
import { openStand, type Stand } from './stand.js';

const tool = (name: string) => ({ name, inputSchema: { type: 'object' } });
const missing = () => {
  throw new UpstreamError(-32602, 'No such thing');
};

const openServer = (tools: readonly string[]): Promise<Upstream> =>
  openUpstream({
    tools: tools.map(tool),
    answers: {
      initialize: () => ({
        protocolVersion: '2025-11-25',
        capabilities: { tools: {}, resources: {}, prompts: {} },
        serverInfo: { name: 'up', version: '1' },
      }),
      'resources/list': () => ({ resources: [{ uri: 'note://wxyzsecret', name: 'secret' }] }),
      'resources/read': missing,
      'prompts/list': () => ({ prompts: [{ name: 'wxyzsecret' }] }),
      'prompts/get': missing,
    },
  });

const CALLERS = {
  ruled: { id: 'ruled', capabilities: ['mcp_integration'] },
  few: { id: 'few', capabilities: ['mcp:up/look'] },
  all: { id: 'all', capabilities: ['mcp_integration'] },
};

async function openOne(): Promise<{ stand: Stand; server: Upstream }> {
  const server = await openServer(['look', 'wxyzsecret']);
  const stand = await openStand({
    servers: { up: { url: server.url, connectTimeoutMs: 2_000 } },
    callers: CALLERS,
    options: {
      rules: [{ action: 'deny', tool: '*wxyzsecret', caller: 'ruled' }],
    },
  });
  onTestFinished(async () => {
    await stand.close();
    await server.close();
  });
  return { stand, server };
}

const STATES: Readonly<Record<string, (stand: Stand, server: Upstream) => Promise<unknown>>> = {
  up: async () => {},
  'not up': ({ runtime }) => runtime.disconnect('up'),
  'switched off': ({ runtime }) => runtime.toggle('up', false),
  'out of reach': async ({ runtime }, server) => {
    await server.close();
    await runtime.disconnect('up');
    // The first attempt may reuse an old socket, which fails in another way than the next ones.
    await runtime.connect('up').catch(() => {});
  },
};

it.each(Object.entries(STATES))(
  'a hidden item looks missing on a server that is %s',
  async (state, bring) => {
    const { stand, server } = await openOne();
    await bring(stand, server);
    const requests = [
      ['tools/call', { name: 'up_wxyzsecret' }],
      ['resources/read', { uri: 'note://wxyzsecret' }],
      ['prompts/get', { name: 'up_wxyzsecret' }],
    ] as const;
    for (const token of ['ruled', 'few'])
      for (const [method, params] of requests) {
        const ask = async (name: string): Promise<string> => {
          const named = JSON.parse(JSON.stringify(params).replace('wxyzsecret', name));
          const { status, body } = await modern(stand, { method, params: named }, { token });
          if (state === 'not up') await stand.runtime.disconnect('up');
          return JSON.stringify([status, body]);
        };
        const hidden = await ask('wxyzsecret');
        expect(hidden.replaceAll('wxyzsecret', 'wxyzabsent'), `${token} ${method}`).toBe(
          await ask('wxyzabsent'),
        );
      }
    // A caller that may know the server learns that it is unavailable; any other caller learns nothing.
    const received = await modern(
      stand,
      { method: 'tools/call', params: { name: 'up_wxyzsecret' } },
      { token: 'ruled' },
    );
    const isDown = state === 'switched off' || state === 'out of reach';
    expect(JSON.stringify(received.body)).toContain(isDown ? '"server":"up"' : 'TOOL_UNKNOWN');
  },
);

it('a hidden tool does not affect the names that a view gives to tools of the same name', async () => {
  const servers = [await openServer(['look', 'own']), await openServer(['look', 'mine'])];
  const [first, second] = servers;
  const stand = await openStand({
    servers: { hidden: { url: first?.url ?? '' }, shown: { url: second?.url ?? '' } },
    callers: { some: { id: 'some', capabilities: ['mcp:shown'] }, all: CALLERS.all },
    views: { plain: { names: 'plain' } },
  });
  onTestFinished(async () => {
    await stand.close();
    for (const server of servers) await server.close();
  });
  const path = '/mcp/plain';
  const list = async (token: string): Promise<string[]> => {
    const { body } = await modern(stand, { method: 'tools/list' }, { token, path });
    const tools = (body.result?.tools ?? []) as Array<{ name: string }>;
    return tools.map(({ name }) => name);
  };
  expect(await list('some')).toEqual(['look', 'mine']);
  expect(await list('all')).toEqual(['look', 'mine', 'own', 'shown_look']);
  const call = (token: string, name: string) =>
    modern(stand, { method: 'tools/call', params: { name } }, { token, path });
  expect((await call('some', 'look')).body.result).toBeDefined();
  expect([first?.calls().length, second?.calls().length]).toEqual([0, 1]);
  expect((await call('all', 'look')).body.result).toBeDefined();
  expect((await call('all', 'shown_look')).body.result).toBeDefined();
  expect([first?.calls().length, second?.calls().length]).toEqual([1, 2]);
  const words = async (name: string): Promise<string> =>
    JSON.stringify((await call('some', name)).body).replaceAll(name, '<name>');
  const absent = await words('wxyzwxyzwxyz');
  expect(absent).toContain('TOOL_UNKNOWN');
  for (const name of ['hidden_look', 'shown_look', 'hidden_own']) expect(await words(name)).toBe(absent);
});
