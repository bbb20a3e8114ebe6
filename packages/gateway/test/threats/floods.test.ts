/** Servers that send more than a client can read: the memory of the daemon stays small, and clients get a limited part. */
import { readFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fixture, waitUntil } from '@turnbuckle/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ChildDaemon, childDaemon } from './child-daemon.js';

const MEGABYTE = 1_024 * 1_024;
/** How long a server may flood before it is stopped. */
const MAX_FLOOD_MS = 2_000;
const CLIENT = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'c', version: '1' } };
const TOOLS = ['resumed', 'good'].map((name) => ({ name, inputSchema: { type: 'object' } }));

/** When a stream was requested: the general one, and the one that resumes a call. */
const streams: number[] = [];
const resumes: number[] = [];
const RESULTS: Readonly<Record<string, object>> = {
  initialize: {
    protocolVersion: '2025-11-25',
    capabilities: { tools: { listChanged: true }, logging: {} },
    serverInfo: { name: 'again', version: '1' },
  },
  'tools/list': { tools: TOOLS },
};

let talker: ServerResponse | undefined;
let lists = 0;

/** Ends every stream at once with `retry: 0`; but `/talker` sends much on one. */
const again = createServer(async (request, response) => {
  if (request.method === 'GET' && request.url === '/talker') {
    talker = response.writeHead(200, { 'content-type': 'text/event-stream' });
    return talker.flushHeaders();
  }
  if (request.method === 'GET') {
    const resumed = request.headers['last-event-id'] === 'of-the-call';
    (resumed ? resumes : streams).push(performance.now());
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    return void response.end(`id: ${resumed ? 'of-the-call' : 'x'}\nretry: 0\ndata: \n\n`);
  }
  let body = '';
  for await (const part of request) body += String(part);
  if (request.method !== 'POST') return void response.writeHead(405).end();
  const { id, method, params } = JSON.parse(body);
  if (id === undefined) return void response.writeHead(202).end();
  if (params?.name === 'resumed') {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    return void response.end('id: of-the-call\nretry: 0\ndata: \n\n');
  }
  if (method === 'tools/list' && request.url === '/talker') lists += 1;
  const known = method === 'tools/call' ? { content: [] } : RESULTS[method];
  const outcome = known === undefined ? { error: { code: -32601, message: 'no' } } : { result: known };
  response.writeHead(200, { 'content-type': 'application/json', 'mcp-session-id': 'again' });
  response.end(JSON.stringify({ jsonrpc: '2.0', id, ...outcome }));
});

let daemon: ChildDaemon;
beforeAll(async () => {
  await new Promise<void>((resolve) => again.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(again.address() as AddressInfo).port}`;
  const servers = {
    dry: fixture('echo'),
    ...Object.fromEntries(['wet', 'loud', 'chatty'].map((name) => [name, fixture('oversized')])),
    pages: fixture('paging', '--cursor-mode', 'endless', '--page', '2'),
    again: { url: `${origin}/again` },
    talker: { url: `${origin}/talker` },
  };
  daemon = await childDaemon({ servers }, { limits: { maxFloodMs: MAX_FLOOD_MS } });
});
afterAll(async () => {
  await daemon.remove();
  again.closeAllConnections();
  again.close();
});

const expectOthersServed = async (): Promise<void> =>
  expect(await daemon.call('dry', 'echo', { text: 'meanwhile' })).toMatchObject({ success: true });

/** The most memory that the daemon has had so far, in bytes. */
const peak = (): number =>
  Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${daemon.pid}/status`, 'utf8'))?.[1]) * 1_024;

const post = (message: object, session?: string | null): Promise<Response> =>
  daemon.fetch('/mcp', {
    method: 'POST',
    headers: { accept: 'application/json, text/event-stream', ...(session && { 'mcp-session-id': session }) },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, ...message }),
  });

describe('a server that floods', () => {
  it('by stdout and stderr takes no memory, is stopped, and others are served', async () => {
    // Far more than the garbage that a busy collector leaves.
    const size = 320 * MEGABYTE;
    for (const server of ['wet', 'loud']) await daemon.call(server, 'echo', { text: 'warm' });
    await expectOthersServed();
    const before = peak();
    const onStdout = daemon.call('wet', 'stdout_flood', { size });
    const onStderr = daemon.call('loud', 'stderr_flood', { size });
    await expectOthersServed();
    expect(await onStdout).toMatchObject({ success: false, code: 'CALL_OUTCOME_UNKNOWN' });
    // Its response may overtake its notices.
    await onStderr;
    for (const server of ['wet', 'loud'])
      await waitUntil(async () => {
        const response = await daemon.fetch(`/api/servers/${server}`);
        const status = (await response.json()) as { error?: unknown };
        return JSON.stringify(status.error ?? {}).includes('SERVER_FLOODED');
      }, 20_000);
    await expectOthersServed();
    // Less than one of them would have sent.
    expect(peak() - before).toBeLessThan(size);
    for (const server of ['wet', 'loud'])
      expect(await daemon.call(server, 'echo', { text: 'after' })).toMatchObject({ success: true });
  });

  it('by notifications reaches its client at a limited rate, and others are served', async () => {
    const session = (await post({ method: 'initialize', params: CLIENT })).headers.get('mcp-session-id');
    const params = { name: 'chatty_notification_flood', arguments: { size: 32 * MEGABYTE } };
    const began = performance.now();
    const answer = post({ method: 'tools/call', params }, session).then((response) => response.text());
    await expectOthersServed();
    const heard = await answer;
    const seconds = (performance.now() - began) / 1_000;
    const notices = heard.match(/"method":"notifications\/message"/g)?.length ?? 0;
    // A limited number per second passes, out of five hundred.
    expect(notices).toBeGreaterThan(0);
    expect(notices).toBeLessThanOrEqual(100 * (seconds + 1));
    expect(heard).toContain('flooded');
  });

  it('by endless pages is read up to a limit', async () => {
    await daemon.call('pages', 'tool_00001');
    const { tools } = (await (await daemon.fetch('/tools')).json()) as { tools: Array<{ server: string }> };
    expect(tools.filter(({ server }) => server === 'pages')).toHaveLength(128);
  });
});

/** The minimum pause, whatever the server asks for. */
const FLOOR_MS = 200;
const pausesOf = (times: readonly number[]): number[] =>
  times.slice(1).map((time, index) => time - (times[index] ?? 0));

it('a server that asks for an immediate retry is retried after a pause, and not forever', async () => {
  expect(await daemon.call('again', 'good')).toMatchObject({ success: true });
  expect(await daemon.call('again', 'resumed')).toMatchObject({ success: false });
  await waitUntil(() => streams.length >= 3);
  expect(resumes.length).toBeGreaterThan(1);
  expect(resumes.length).toBeLessThanOrEqual(5);
  for (const times of [streams, resumes]) expect(Math.min(...pausesOf(times))).toBeGreaterThan(FLOOR_MS);
  await expectOthersServed();
});

// What is kept for a client without a stream is bounded in number, but not in size.
it('a client that was away while a server sent messages gets them on a new stream', async () => {
  expect(await daemon.call('talker', 'good')).toMatchObject({ success: true });
  await waitUntil(() => talker !== undefined);
  const session = (await post({ method: 'initialize', params: CLIENT })).headers.get('mcp-session-id') ?? '';
  const listed = lists;
  const say = (method: string, params = {}): unknown =>
    talker?.write(`data: ${JSON.stringify({ jsonrpc: '2.0', method, params })}\n\n`);
  for (let number = 0; number < 10; number += 1)
    say('notifications/message', { level: 'error', data: 'x'.repeat(MEGABYTE) });
  say('notifications/message', { level: 'error', data: 'the last one' });
  // Comes after them, and makes the daemon read the list at once.
  say('notifications/tools/list_changed');
  await waitUntil(() => lists > listed);
  const stream = await daemon.fetch('/mcp', {
    headers: { accept: 'text/event-stream', 'mcp-session-id': session },
  });
  let heard = '';
  const decoder = new TextDecoder();
  for await (const part of stream.body ?? []) {
    heard += decoder.decode(part, { stream: true });
    if (heard.includes('the last one')) break;
  }
  expect(heard).toContain('the last one');
});
