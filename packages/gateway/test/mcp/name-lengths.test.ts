/** Names and URIs of any length, over every transport: a long one is rejected by its length, at no cost to others. */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { PassThrough } from 'node:stream';
import { timeBound, waitUntil } from '@turnbuckle/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openUpstream, type Upstream } from '../threats/upstream.js';
import { initialize, modern, send } from './raw-client.js';
import { EVERYTHING, openStand, type Stand } from './stand.js';

/** Expensive to search for secrets. */
const LONG = 'pw=b '.repeat(600_000);
/** Members that an engine keeps in no order: each copy of them takes long. */
const WIDE = Object.fromEntries(
  Array.from({ length: 60_000 }, (_, at) => [String((at * 2_654_435_761) % 4_294_967_296), 1]),
);
const REQUESTS: ReadonlyArray<readonly [string, (name: string) => Record<string, unknown>]> = [
  ['tools/call', (name) => ({ name })],
  ['resources/read', (uri) => ({ uri })],
  ['resources/subscribe', (uri) => ({ uri })],
  ['prompts/get', (name) => ({ name })],
  [
    'completion/complete',
    (uri) => ({ ref: { type: 'ref/resource', uri }, argument: { name: 'a', value: '' } }),
  ],
  [
    'completion/complete',
    (name) => ({ ref: { type: 'ref/prompt', name }, argument: { name: 'a', value: '' } }),
  ],
  [
    'completion/complete',
    (value) => ({ ref: { type: 'ref/prompt', name: 'p' }, argument: { name: 'a', value } }),
  ],
  ['tools/list', (cursor) => ({ cursor })],
  ['tasks/get', (taskId) => ({ taskId })],
  ['logging/setLevel', (level) => ({ level })],
  ['subscriptions/listen', (uri) => ({ notifications: { resourceSubscriptions: ['a:b', uri] } })],
];

let up: Upstream;
let stand: Stand;
let session: string;
beforeAll(async () => {
  up = await openUpstream({ tools: [{ name: 'look', inputSchema: { type: 'object' } }] });
  stand = await openStand({ servers: { up: { url: up.url } } });
  session = await initialize(stand);
});
afterAll(async () => {
  await stand.close();
  await up.close();
});

/** The response; fails if the event loop was blocked for too long. */
async function ask(work: () => Promise<{ readonly body: object }>): Promise<object> {
  const delay = monitorEventLoopDelay({ resolution: 10 });
  delay.enable();
  const { body } = await work();
  delay.disable();
  expect(delay.max / 1e6).toBeLessThan(timeBound(250));
  return body;
}

async function overStdio(message: object): Promise<{ readonly body: object }> {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const serving = stand.endpoint.serveStdio({ input, output, caller: EVERYTHING, maxBytes: 8_000_000 });
  let said = '';
  output.setEncoding('utf8').on('data', (part: string) => {
    said += part;
  });
  input.write(`${JSON.stringify(message)}\n`);
  await waitUntil(() => said.includes('\n'));
  input.end();
  await serving;
  return { body: JSON.parse(said.split('\n')[0] ?? '') };
}

const WAYS: Readonly<Record<string, (method: string, params: Record<string, unknown>) => Promise<object>>> = {
  modern: (method, params) =>
    ask(() =>
      modern(
        stand,
        { method, params },
        { headers: { 'mcp-name': 'x', 'mcp-method': 'x' }, meta: Object(params._meta) },
      ),
    ),
  legacy: (method, params) =>
    ask(() =>
      send(stand, { jsonrpc: '2.0', id: 1, method, params }, { headers: { 'mcp-session-id': session } }),
    ),
  stdio: (method, params) => ask(() => overStdio({ jsonrpc: '2.0', id: 1, method, params })),
};

describe.each(Object.entries(WAYS))('over %s', (_way, send) => {
  it.each(REQUESTS)('%s with a name of 3 MB is refused by its length', async (method, params) => {
    const before = up.noted.length;
    const answer = await send(method, params(LONG));
    expect(answer).toMatchObject({ id: 1, error: { code: -32602 } });
    const text = JSON.stringify(answer);
    expect(text).toContain('is longer than 8192 characters');
    expect(text.length).toBeLessThan(1_000);
    expect(up.noted.length).toBe(before);
  });

  it.each([
    ['params._meta', { name: 'up_look', arguments: {}, _meta: WIDE }],
    ['params', { name: 'up_look', arguments: {}, ...WIDE }],
  ])('%s with very many members is refused', async (where, params) => {
    const before = up.noted.length;
    const message = expect.stringContaining(`${where} has too many members (`);
    expect(await send('tools/call', params)).toMatchObject({ id: 1, error: { code: -32602, message } });
    expect(up.noted.length).toBe(before);
  });

  it('a method of 3 MB is refused by its length', async () => {
    expect(await send(LONG, {})).toMatchObject({ id: 1, error: { code: -32602 } });
  });
});

it.each(['legacy', 'stdio'])('over %s: a progress token of 3 MB is refused', async (way) => {
  const answer = await WAYS[way]?.('tools/list', { _meta: { progressToken: LONG } });
  expect(answer).toMatchObject({ id: 1, error: { code: -32602 } });
});

it('the library refuses a long name too, and records little of it', async () => {
  const { runtime } = stand;
  const received: object[] = [];
  const stop = runtime.on('call.settled', (event) => received.push({ ...event, arguments: undefined }));
  const calls = [
    runtime.call({ tool: LONG, arguments: {} }),
    runtime.call({ tool: 'look', server: LONG, arguments: {} }),
    runtime.readResource('up', LONG),
    runtime.getPrompt('up', LONG),
    runtime.subscribeResource('up', LONG, () => {}),
    runtime.request({ kind: 'tool', server: 'up', method: LONG, item: 'x', params: {} }),
  ];
  for (const call of calls) await expect(call).rejects.toMatchObject({ code: 'REQUEST_INVALID' });
  stop();
  expect(received.length).toBeGreaterThan(3);
  expect(JSON.stringify(received).length).toBeLessThan(20_000);
});
