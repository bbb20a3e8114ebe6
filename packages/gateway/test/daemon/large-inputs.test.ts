/** Whatever a server's message or a request body contains, other requests do not wait for it. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { fixture, sampled, timeBound } from '@turnbuckle/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RawServer, rawServer } from '../../../core/test/hostile/raw-server.js';
import { type ChildDaemon, childDaemon } from '../threats/child-daemon.js';

const TRANSPORTS = ['stdio', 'websocket', 'http', 'sse'] as const;
const list = (unit: string, count: number): string => `{"a":[${unit.repeat(count)}1]}`;
const members = (count: number, key: (at: number) => string, part = '1'): string =>
  `{${Array.from({ length: count }, (_, at) => `"${key(at)}":${part}`).join(',')}}`;
const name = (at: number): string => `k${at.toString(36)}`;
const integer = (at: number): string => String((at * 2_654_435_761) % 4_294_967_296);

/** Just within the limits of a request. */
const BODIES: Readonly<Record<string, string>> = {
  'numbers with a point': list('1.0,', 240_000),
  'numbers of 17 digits': list('90071992547409931,', 220_000),
  'members of 17 digits': members(90_000, name, '90071992547409931'),
  'members of one object': members(99_000, name),
  'members with numbers for names': members(99_000, integer),
  'both, and a number with a point': `{"one":1.0,${members(99_000, integer).slice(1)}`,
  'empty objects': list('{},', 120_000),
  'addresses with passwords': JSON.stringify({ text: 'https://a:b@c '.repeat(280_000) }),
  'one text': JSON.stringify({ text: 'x'.repeat(4_000_000) }),
};
/** Just within the limits of an answer, as the server makes them. */
const ANSWERS: Readonly<Record<string, object>> = {
  'numbers with a point': { unit: '1.0,', bytes: 4_000_000 },
  'negative zeros': { unit: '-0,', bytes: 4_000_000 },
  'numbers of 17 digits': { unit: '90071992547409931,', bytes: 4_000_000 },
  'members of one object': { unit: '"k#":0,', bytes: 980_000, before: '{', after: '"z":0}' },
  'members with numbers for names': { unit: '"#":0,', bytes: 880_000, before: '{', after: '"z":0}' },
  zeros: { unit: '0,', bytes: 3_900_000 },
  'addresses with passwords': { unit: 'https://a:b@c ', bytes: 9_000_000, before: '"', after: '"' },
  'a table': { unit: '{"id":12,"name":"abc"},', bytes: 9_000_000 },
};

const servers: RawServer[] = [];
let daemon: ChildDaemon;
let agent: string;
let asking: string;
let session: string;
beforeAll(async () => {
  for (const transport of TRANSPORTS) servers.push(await rawServer(transport));
  const raw = TRANSPORTS.map((transport, at) => [transport, { ...servers[at]?.config, redactResults: true }]);
  daemon = await childDaemon({
    servers: {
      ...Object.fromEntries(raw),
      good: fixture('echo'),
      mine: { ...fixture('echo'), env: { API_KEY: 'a-secret-of-this-test-1234' } },
      hidden: fixture('echo'),
    },
    rules: [
      { action: 'ask', caller: 'asking' },
      { action: 'deny', caller: 'agent', secrets: true },
      { action: 'allow', caller: '*' },
    ],
  });
  agent = await tokenOf('agent');
  asking = await tokenOf('asking');
  const begun = await mcp({ method: 'initialize', params: CLIENT });
  session = begun.headers.get('mcp-session-id') ?? '';
  for (const server of ['good', 'mine', 'hidden']) await daemon.call(server, 'echo', { text: 'warm' });
  for (const transport of TRANSPORTS) await daemon.call(transport, 'echo', { text: 'warm' });
}, 60_000);
afterAll(async () => {
  await daemon.remove();
  for (const server of servers) server.stop();
});

const CLIENT = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'c', version: '1' } };

async function tokenOf(caller: string): Promise<string> {
  const made = await daemon.post('/api/tokens', { name: caller, can: ['mcp:mine'], access: ['call'] });
  return String(made.body.token);
}

const mcp = (message: object | string): Promise<Response> =>
  daemon.fetch('/mcp', {
    method: 'POST',
    headers: {
      authorization: `Bearer ${agent}`,
      accept: 'application/json, text/event-stream',
      ...(session !== undefined && { 'mcp-session-id': session }),
    },
    body: typeof message === 'string' ? message : JSON.stringify({ jsonrpc: '2.0', id: 1, ...message }),
  });

const send = (path: string, body: string, token = agent): Promise<Response> =>
  daemon.fetch(path, { method: 'POST', headers: { authorization: `Bearer ${token}` }, body });

/** Each way to send arguments, and its response. */
const WAYS: Readonly<Record<string, (args: string) => Promise<Response>>> = {
  bridge: (args) => send('/mcp/call', `{"server":"mine","tool_name":"echo","arguments":${args}}`),
  batch: (args) => send('/mcp/calls', `{"calls":[{"server":"mine","tool_name":"echo","arguments":${args}}]}`),
  'server that it may not see': (args) =>
    send('/mcp/call', `{"server":"hidden","tool_name":"echo","arguments":${args}}`),
  // There is no answer: the client disconnects.
  'tool that needs approval': (args) =>
    fetch(`${daemon.url}/mcp/call`, {
      method: 'POST',
      headers: { authorization: `Bearer ${asking}`, 'content-type': 'application/json' },
      body: `{"server":"mine","tool_name":"echo","arguments":${args}}`,
      signal: AbortSignal.timeout(2_000),
    }).catch(() => new Response()),
  session: (args) =>
    mcp(
      `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"mine_echo","arguments":${args},"_meta":${args}}}`,
    ),
  'response to no request': (args) => mcp(`{"jsonrpc":"2.0","id":1,"result":${args}}`),
};

/** Another client is served meanwhile. The longest time of a health request, which needs one turn of the event loop. */
async function slowestDuring(work: Promise<unknown>): Promise<number> {
  let isOver = false;
  const over = work.finally(() => {
    isOver = true;
  });
  over.catch(() => {});
  let longest = 0;
  while (!isOver) {
    const started = performance.now();
    await (await daemon.fetch('/health')).text();
    longest = Math.max(longest, performance.now() - started);
    expect(await daemon.call('good', 'echo', { text: 'neighbour' })).toMatchObject({ success: true });
    await nextTurn();
  }
  await over;
  return longest;
}

describe.each(Object.keys(WAYS))('a body for a %s', (way) => {
  it.each(sampled(Object.keys(BODIES), 3))(
    'does not block other requests: %s',
    async (kind) => {
      const work = WAYS[way]?.(BODIES[kind] ?? '').then((response) =>
        response.text().then(() => response.status),
      );
      expect(await slowestDuring(Promise.resolve(work))).toBeLessThan(timeBound(250));
      expect(await work).toBeLessThan(500);
    },
    60_000,
  );
});

describe.each(TRANSPORTS)('an answer over %s that is searched for secrets', (transport) => {
  it.each(sampled(Object.keys(ANSWERS), 3))(
    'does not block other requests: %s',
    async (kind) => {
      const work = daemon.call(transport, 'say', { big: { kind: 'answer', ...ANSWERS[kind] } });
      expect(await slowestDuring(work)).toBeLessThan(timeBound(250));
      expect(await work).toMatchObject({ success: true });
    },
    60_000,
  );
});
