/** What the bridge refuses is in the log, with its caller and its code. */
import { fixture } from '@turnbuckle/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type OwnDaemon, ownDaemon } from '../daemon/own-daemon.js';

const URL = 'http://127.0.0.1:9/mcp';

let own: OwnDaemon;
let agent: string;
beforeAll(async () => {
  own = await ownDaemon({
    servers: { files: fixture('echo') },
    rules: [{ action: 'allow' }],
    daemon: { bridge: { urls: [URL] } },
  });
  await own.daemon.configured.runtime.connectAll();
  const made = await own.post('/api/tokens', { name: 'agent', can: ['mcp:files/echo'], access: ['call'] });
  agent = String(made.body.token);
});
afterAll(() => own.close());

const tool_name = 'echo';
const TABLE: ReadonlyArray<readonly [string, object, string]> = [
  ['a command', { endpoint: { command: '/bin/sh', args: ['-c', 'id'] }, tool_name }, 'ACCESS_DENIED'],
  ['an address', { endpoint: { url: 'http://127.0.0.1:1/' }, tool_name }, 'ACCESS_DENIED'],
  ['no endpoint', { endpoint: {}, tool_name }, 'ARGUMENTS_INVALID'],
  ['an endpoint and a server', { endpoint: { url: URL }, server: 'files', tool_name }, 'ARGUMENTS_INVALID'],
  ['a header', { endpoint: { url: URL, headers: { host: 'x' } }, tool_name }, 'ARGUMENTS_INVALID'],
  ['a server', { server: 'made-up', tool_name }, 'TOOL_UNKNOWN'],
  ['a tool', { server: 'files', tool_name: 'add' }, 'TOOL_UNKNOWN'],
];

// requirement D5, P5
it.each(TABLE)('that refuses %s leaves a record', async (_what, body, code) => {
  const sent = await own.post('/mcp/call', { ...body, arguments: { text: 'x' } }, agent);
  expect(sent.body).toMatchObject({ success: false, code });
  const { calls } = (await (await own.fetch('/api/calls?limit=1')).json()) as { calls: object[] };
  expect(calls).toMatchObject([{ caller: 'agent', code, outcome: 'failed' }]);
});

it('of several calls in one request leaves a record of each', async () => {
  const countOf = async (): Promise<number> => {
    const { calls } = (await (await own.fetch('/api/calls?limit=100')).json()) as { calls: object[] };
    return calls.length;
  };
  const before = await countOf();
  await own.post('/mcp/calls', { calls: TABLE.map(([, body]) => body) }, agent);
  expect(await countOf()).toBe(before + TABLE.length);
});
