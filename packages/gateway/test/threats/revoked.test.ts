/** A token that is revoked or has expired: everything that it began ends, and a new one of its name inherits nothing. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { fixture, waitUntil } from '@turnbuckle/testing';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { TokenStore } from '../../src/tokens/token-store.js';
import { type OwnDaemon, ownDaemon } from '../daemon/own-daemon.js';
import { initialize, modern, type RawAnswer, send } from '../mcp/raw-client.js';
import type { Stand } from '../mcp/stand.js';

const FORM = {
  message: 'Who?',
  requestedSchema: { type: 'object', properties: { name: { type: 'string' } } },
};
const CAN_ASK = { 'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {} } } };
const SLEEP = { name: 'up_sleep', arguments: { ms: 60_000 } };
/** Long enough for a busy machine; what would end by itself takes longer. */
const SOON_MS = 10_000;

let here: OwnDaemon;
let there: Stand;
beforeAll(async () => {
  here = await ownDaemon({
    servers: {
      up: fixture('echo'),
      asking: { ...fixture('asking', '--era', 'legacy'), mayAsk: ['elicitation'] },
    },
    rules: [{ action: 'ask', tool: 'add' }, { action: 'allow' }],
  });
  there = { url: here.daemon.url } as Stand;
  await here.daemon.configured.runtime.connectAll();
});
afterAll(() => here.close());

const inFlight = (): number => here.daemon.configured.runtime.serverStatus('up').inFlight;
const pending = () => here.daemon.configured.runtime.approvals.pending();

async function makeToken(expires?: Date): Promise<string> {
  // A token left by a failed test would be in the way.
  await here.fetch('/api/tokens/agent', { method: 'DELETE' });
  const made = await here.post('/api/tokens', {
    name: 'agent',
    can: ['mcp_integration'],
    access: ['call', 'read'],
    ...(expires && { expires: expires.toISOString() }),
  });
  return String(made.body.token);
}

/** The endless stream of a response; `over` resolves when it ends. */
async function openStream(
  init: RequestInit & { readonly token: string },
  path = '/mcp',
): Promise<{ readonly over: Promise<string> }> {
  const response = await here.fetch(path, init);
  expect([path, response.status]).toEqual([path, 200]);
  return { over: response.text().catch(() => 'broken off') };
}

const call = (params: object) => ({ jsonrpc: '2.0', id: 5, method: 'tools/call', params });

const ask = (token: string, more: object = {}): Promise<RawAnswer> =>
  modern(
    there,
    {
      method: 'tools/call',
      params: { name: 'asking_ask', arguments: { kind: 'elicitation', params: FORM }, ...more },
    },
    { token, meta: CAN_ASK },
  );

/** Everything that a token can begin and leave open. */
async function beginAll(token: string) {
  const session = await initialize(there, { token });
  const inSession = { token, headers: { 'mcp-session-id': session } };
  const meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const listen = {
    ...{ jsonrpc: '2.0', id: 9, method: 'subscriptions/listen' },
    params: { notifications: { toolsListChanged: true }, _meta: meta },
  };
  const accept = 'application/json, text/event-stream';
  const parked = await ask(token);
  const streams = await Promise.all([
    openStream({ token, headers: { accept, 'mcp-session-id': session } }),
    openStream({
      ...{ token, method: 'POST', body: JSON.stringify(listen) },
      headers: {
        ...{ accept, 'content-type': 'application/json' },
        ...{ 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'subscriptions/listen' },
      },
    }),
    openStream({ token }, '/api/events'),
  ]);
  const body = { server: 'up', tool_name: 'sleep', arguments: { ms: 60_000 }, timeout_ms: 60_000 };
  const calls = [
    here.post('/mcp/call', body, token),
    here.post('/mcp/calls', { calls: [body, body] }, token),
    send(there, call(SLEEP), inSession),
    modern(there, { method: 'tools/call', params: SLEEP }, { token }),
  ];
  await waitUntil(() => inFlight() === 5);
  const asked = here.post('/mcp/call', { tool_name: 'up_add', arguments: { a: 1, b: 2 } }, token);
  await waitUntil(() => pending().length === 1);
  return { session, parked, streams, calls: [...calls, asked], slow: await slowBody(token) };
}

/** A request whose body has not arrived yet. */
async function slowBody(token: string) {
  const { port } = new URL(there.url);
  const socket = connect(Number(port), '127.0.0.1').on('error', () => {});
  onTestFinished(() => void socket.destroy());
  const body = JSON.stringify({ server: 'up', tool_name: 'echo', arguments: { text: 'late' } });
  socket.write(
    `POST /mcp/call HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\nauthorization: Bearer ${token}\r\n` +
      `content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n{`,
  );
  let heard = '';
  socket.on('data', (part) => {
    heard += String(part);
  });
  await once(socket, 'connect');
  return { finish: () => socket.write(body.slice(1)), heard: () => heard, isOver: () => socket.destroyed };
}

/** Everything has ended, and the log shows it. */
async function expectOver(token: string, begun: Awaited<ReturnType<typeof beginAll>>): Promise<void> {
  await Promise.all(begun.streams.map(({ over }) => over));
  for (const answer of await Promise.all(begun.calls))
    expect(JSON.stringify(answer.body)).toMatch(/CALL_CANCELLED|-32800/);
  expect(inFlight()).toBe(0);
  expect(pending()).toEqual([]);
  await waitUntil(() => here.daemon.configured.runtime.serverStatus('asking').inFlight === 0);
  begun.slow.finish();
  await waitUntil(() => begun.slow.heard() !== '' || begun.slow.isOver());
  expect(begun.slow.heard()).not.toContain('"success":true');
  expect((await here.fetch('/tools', { token })).status).toBe(401);
  await waitUntil(async () => {
    const { calls } = (await (await here.fetch('/api/calls?limit=20')).json()) as { calls: Logged[] };
    return calls.filter(({ caller, code }) => caller === 'agent' && code === 'CALL_CANCELLED').length >= 6;
  });
}

interface Logged {
  readonly caller?: string;
  readonly code?: string;
}

/** Another identity with the same name. */
async function expectNothingInherited(begun: Awaited<ReturnType<typeof beginAll>>): Promise<void> {
  const token = await makeToken();
  const inSession = { token, headers: { 'mcp-session-id': begun.session } };
  const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
  for (const method of ['POST', 'GET', 'DELETE'])
    expect((await send(there, list, { ...inSession, method })).status).toBe(404);
  const { requestState, inputRequests } = begun.parked.body.result ?? {};
  expect(requestState).toEqual(expect.any(String));
  const inputResponses = Object.fromEntries(
    Object.keys(inputRequests as object).map((key) => [key, { action: 'accept', content: { name: 'Eve' } }]),
  );
  const resumed = await ask(token, { requestState, inputResponses });
  expect(resumed.body.error).toMatchObject({ code: -32602 });
  // An approval for the session was given to the old token.
  const asked = here.post('/mcp/call', { tool_name: 'up_add', arguments: { a: 1, b: 2 } }, token);
  await waitUntil(() => pending().length === 1);
  await here.post(`/api/approvals/${pending()[0]?.id}`, { answer: 'session' });
  expect((await asked).body.success).toBe(true);
  const again = await here.post('/mcp/call', { tool_name: 'up_add', arguments: { a: 1, b: 2 } }, token);
  expect(again.body.success).toBe(true);
  await here.fetch('/api/tokens/agent', { method: 'DELETE' });
}

const inAnotherProcess = async (): Promise<void> => {
  const store = await TokenStore.open({ stateDir: here.stateDir });
  await store.revoke('agent');
  store.close();
};

describe('a token that ends', () => {
  const ends: ReadonlyArray<readonly [string, () => Promise<unknown>]> = [
    ['is revoked over the API', () => here.fetch('/api/tokens/agent', { method: 'DELETE' })],
    ['is revoked by another process', inAnotherProcess],
  ];

  it.each(ends)(
    'takes everything with it when it %s',
    async (_name, end) => {
      const token = await makeToken();
      const begun = await beginAll(token);
      await end();
      await expectOver(token, begun);
      await expectNothingInherited(begun);
    },
    SOON_MS * 3,
  );

  it(
    'takes everything with it when it expires',
    async () => {
      const token = await makeToken(new Date(Date.now() + 6_000));
      await expectOver(token, await beginAll(token));
      await here.fetch('/api/tokens/agent', { method: 'DELETE' });
    },
    SOON_MS * 3,
  );

  it.each(['revoked', 'closed'])(
    'ends a call that waits for its client on a stdio tunnel (%s)',
    async (how) => {
      const token = await makeToken();
      const { host, port } = new URL(there.url);
      const socket = connect(Number(port), '127.0.0.1').on('error', () => {});
      onTestFinished(() => void socket.destroy());
      let heard = '';
      socket.on('data', (part) => {
        heard += String(part);
      });
      const _meta = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28', ...CAN_ASK };
      const asking = { name: 'asking_ask', arguments: { kind: 'elicitation', params: FORM }, _meta };
      socket.write(
        `CONNECT mcp-stdio:0 HTTP/1.1\r\nhost: ${host}\r\nauthorization: Bearer ${token}\r\n\r\n` +
          `${JSON.stringify(call(asking))}\n`,
      );
      await waitUntil(() => heard.includes('"requestState"'), SOON_MS);
      const waiting = (): number => here.daemon.configured.runtime.serverStatus('asking').inFlight;
      expect(waiting()).toBe(1);
      if (how === 'closed') socket.destroy();
      else await here.fetch('/api/tokens/agent', { method: 'DELETE' });
      await waitUntil(() => waiting() === 0, SOON_MS);
    },
    SOON_MS * 3,
  );

  it(
    'does not affect what others began',
    async () => {
      const token = await makeToken();
      const other = await here.post('/api/tokens', {
        name: 'other',
        can: ['mcp_integration'],
        access: ['call', 'read'],
      });
      const others = await openStream({ token: String(other.body.token) }, '/api/events');
      const gone = await openStream({ token }, '/api/events');
      await here.fetch('/api/tokens/agent', { method: 'DELETE' });
      await gone.over;
      let over = false;
      void others.over.then(() => {
        over = true;
      });
      await here.post('/mcp/call', { server: 'up', tool_name: 'echo', arguments: { text: 'x' } });
      expect(over).toBe(false);
      await here.fetch('/api/tokens/other', { method: 'DELETE' });
      await others.over;
    },
    SOON_MS * 3,
  );
});
