/** What one caller does with servers of its requests is of no concern to the others. */
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { type RunningFixture, startFixture } from '@turnbuckle/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TokenStore } from '../../src/tokens/token-store.js';
import { type OwnDaemon, ownDaemon } from '../daemon/own-daemon.js';

let own: OwnDaemon;
let web: RunningFixture;
let tokens: { readonly noisy: string; readonly quiet: string };
const RESULTS: Readonly<Record<string, object>> = {
  initialize: {
    protocolVersion: '2025-11-25',
    capabilities: { tools: {} },
    serverInfo: { name: 'stubborn', version: '1' },
  },
  'tools/list': { tools: [{ name: 'echo', inputSchema: { type: 'object' } }] },
  'tools/call': { content: [] },
};
/** Has sessions, and never answers their end: closing a connection to it takes a second. */
const stubborn = createServer(async (request, response) => {
  if (request.method === 'DELETE') return;
  if (request.method !== 'POST') return void response.writeHead(405).end();
  const { id, method } = JSON.parse(await text(request));
  if (id === undefined) return void response.writeHead(202).end();
  response.writeHead(200, { 'content-type': 'application/json', 'mcp-session-id': 'one' });
  response.end(JSON.stringify({ jsonrpc: '2.0', id, result: RESULTS[method] ?? {} }));
});
let stubbornUrl: string;

beforeAll(async () => {
  web = await startFixture('echo', { transport: 'http' });
  await new Promise<void>((resolve) => stubborn.listen(0, '127.0.0.1', resolve));
  const address = stubborn.address();
  stubbornUrl = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}/mcp`;
  own = await ownDaemon({
    servers: {},
    rules: [{ action: 'allow' }],
    daemon: { bridge: { urls: [web.url, stubbornUrl], maxEndpoints: 6 } },
  });
  const store = await TokenStore.open({ stateDir: own.stateDir });
  const create = async (name: string): Promise<string> =>
    (await store.create({ name, can: ['mcp_integration'], access: ['call'] })).token;
  tokens = { noisy: await create('noisy'), quiet: await create('quiet') };
});
afterAll(async () => {
  await own.close();
  await web.stop();
  stubborn.close().closeAllConnections();
});

const call = (url: string, token: string, headers: object = {}) =>
  own.post('/mcp/call', { endpoint: { url, headers }, tool_name: 'echo', arguments: { text: 'hi' } }, token);

describe('servers that are given in requests', () => {
  it('are there at once, however long those of another caller take to close', async () => {
    expect(await call(web.url, tokens.quiet)).toMatchObject({ body: { success: true } });
    const startedAt = performance.now();
    for (let round = 0; round < 20; round += 1)
      expect(await call(stubbornUrl, tokens.noisy, { 'x-round': String(round) })).toMatchObject({
        body: { success: true },
      });
    expect(await call(web.url, tokens.quiet)).toMatchObject({ body: { success: true } });
    expect(await call(web.url, tokens.quiet, { 'x-new': '1' })).toMatchObject({ body: { success: true } });
    // All that the noisy one made close takes more than ten seconds.
    expect(performance.now() - startedAt).toBeLessThan(8_000);
  });

  it('can be used again while they close', async () => {
    for (let round = 0; round < 8; round += 1)
      await call(stubbornUrl, tokens.noisy, { 'x-again': String(round) });
    expect(await call(stubbornUrl, tokens.noisy, { 'x-again': '0' })).toMatchObject({
      body: { success: true },
    });
  });

  it.each(['Host', 'content-length', 'Transfer-Encoding', 'connection', 'upgrade', 'expect', ' te'])(
    'cannot be given the header %j',
    async (name) => {
      const answer = await call(web.url, tokens.quiet, { [name]: 'x' });
      expect(answer).toMatchObject({ status: 422, body: { success: false, code: 'ARGUMENTS_INVALID' } });
      expect(answer.body.error).toContain(name);
    },
  );

  it('cannot be given headers that are too long together', async () => {
    const many = Object.fromEntries(Array.from({ length: 20 }, (_, at) => [`x-${at}`, 'v'.repeat(2_000)]));
    expect(await call(web.url, tokens.quiet, many)).toMatchObject({
      status: 422,
      body: { success: false, code: 'ARGUMENTS_INVALID' },
    });
  });
});
