/** What a server of a request gets: no stored sign-in, no secret in a header, and no more time than the call. */
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { type RunningFixture, startFixture, waitUntil } from '@turnbuckle/testing';
import {
  startAuthorizationServer,
  startProtectedServer,
  visit,
} from '@turnbuckle/testing/authorization-server';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type Answer, type OwnDaemon, ownDaemon } from '../daemon/own-daemon.js';

const SECRET = 'zq7Kf-PROD-Token-91xVb2';

async function openDaemon(config: object): Promise<{ own: OwnDaemon; agent: string }> {
  const own = await ownDaemon({ rules: [{ action: 'allow' }], ...config });
  onTestFinished(() => own.close());
  const { body } = await own.post('/api/tokens', {
    name: 'weak',
    can: ['mcp_integration'],
    access: ['call'],
  });
  return { own, agent: String(body.token) };
}

async function startWeb(): Promise<RunningFixture> {
  const web = await startFixture('echo', { transport: 'http' });
  onTestFinished(() => web.stop());
  return web;
}

/** Has sessions, and never answers their end: closing a connection to it takes a second. */
async function startStubborn(): Promise<{ url: string; isClosing: () => boolean }> {
  const results: Readonly<Record<string, object>> = {
    initialize: {
      protocolVersion: '2025-11-25',
      capabilities: { tools: {} },
      serverInfo: { name: 'stubborn', version: '1' },
    },
    'tools/list': { tools: [{ name: 'echo', inputSchema: { type: 'object' } }] },
  };
  let isClosing = false;
  const stubborn = createServer(async (request, response) => {
    // Its sessions take as long to end as a client waits.
    if (request.method === 'DELETE') {
      isClosing = true;
      return;
    }
    if (request.method !== 'POST') return void response.writeHead(405).end();
    const { id, method } = JSON.parse(await text(request));
    if (id === undefined) return void response.writeHead(202).end();
    response.writeHead(200, { 'content-type': 'application/json', 'mcp-session-id': 'one' });
    response.end(JSON.stringify({ jsonrpc: '2.0', id, result: results[method] ?? { content: [] } }));
  });
  await new Promise<void>((resolve) => stubborn.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => stubborn.close().closeAllConnections());
  const address = stubborn.address();
  const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}/mcp`;
  return { url, isClosing: () => isClosing };
}

describe('a server that is given in a request', () => {
  it('gets no sign-in that is stored for its URL, whoever asks', async () => {
    const authorizationServer = await startAuthorizationServer({});
    onTestFinished(() => authorizationServer.stop());
    const web = await startProtectedServer({ authorizationServer, scope: 'tools:read' });
    onTestFinished(() => web.stop());
    const { own, agent } = await openDaemon({
      servers: { tracker: { type: 'http', url: web.url, start: 'lazy' } },
      daemon: { bridge: { urls: [web.url] } },
    });
    const PATH = '/api/servers/tracker/sign-in';
    const { body: begun } = await own.post(PATH, {});
    await visit(String(begun.url));
    await waitUntil(async () => ((await (await own.fetch(PATH)).json()) as Answer).signedIn === true);
    const call = (token?: string, headers?: object) =>
      own.post(
        '/mcp/call',
        { endpoint: { url: web.url, headers }, tool_name: 'echo', arguments: { text: 'hi' } },
        token,
      );
    const configured = { server: 'tracker', tool_name: 'echo', arguments: { text: 'hi' } };
    expect((await own.post('/mcp/call', configured)).body).toMatchObject({ success: true });
    for (const token of [agent, undefined])
      for (const headers of [undefined, {}, { 'x-own': '1' }])
        expect(await call(token, headers)).toMatchObject({ body: { success: false, code: 'AUTH_REQUIRED' } });
  });

  it.each([
    ['a value', { 'x-a': SECRET }],
    ['a part of a value', { authorization: `Bearer ${SECRET}` }],
    ['a name', { [SECRET]: 'x' }],
  ])('gets no header of an agent with a known secret as %s', async (_what, headers) => {
    const web = await startWeb();
    const { own, agent } = await openDaemon({
      servers: { vault: { type: 'http', url: web.url, auth: { type: 'bearer', token: SECRET } } },
      daemon: { bridge: { urls: [web.url] } },
    });
    await own.daemon.configured.runtime.connectAll();
    const request = { endpoint: { url: web.url, headers }, tool_name: 'echo', arguments: { text: 'hi' } };
    const { body } = await own.post('/mcp/call', request, agent);
    expect(body).toMatchObject({ success: false, code: 'CALL_DENIED' });
    expect(JSON.stringify(body)).not.toContain(SECRET);
  });

  it('takes no more time than the call, also while it closes', async () => {
    const { url, isClosing } = await startStubborn();
    const web = await startWeb();
    const bridge = { urls: [url, web.url], maxEndpoints: 1 };
    const { own, agent } = await openDaemon({ servers: {}, daemon: { bridge } });
    const call = (to: string, more: object = {}) =>
      own.post(
        '/mcp/call',
        { endpoint: { url: to }, tool_name: 'echo', arguments: { text: 'a' }, ...more },
        agent,
      );
    expect(await call(url)).toMatchObject({ body: { success: true } });
    // It makes room for another one.
    expect(await call(web.url)).toMatchObject({ body: { success: true } });
    await waitUntil(isClosing);
    expect(await call(url, { timeout_ms: 50 })).toMatchObject({
      body: { success: false, code: 'CALL_TIMEOUT', hint: expect.stringContaining('timeout_ms') },
    });
    // Nothing is left in use by the call that timed out.
    await waitUntil(async () => (await call(web.url)).body.success === true);
  });

  it('is closed when the token of its caller is revoked', async () => {
    const { url, isClosing } = await startStubborn();
    const { own, agent } = await openDaemon({ servers: {}, daemon: { bridge: { urls: [url] } } });
    const request = { endpoint: { url, headers: { 'x-own': 'key of the agent' } }, tool_name: 'echo' };
    expect(await own.post('/mcp/call', request, agent)).toMatchObject({ body: { success: true } });
    expect(isClosing()).toBe(false);
    expect((await own.fetch('/api/tokens/weak', { method: 'DELETE' })).status).toBe(200);
    await waitUntil(isClosing);
  });
});
