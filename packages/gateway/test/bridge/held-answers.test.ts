/** Many large responses at once: parsed, they would take several times the memory of the daemon. */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ChildDaemon, childDaemon } from '../threats/child-daemon.js';

/** Nearly the maximum number of values: 3 MB of text that take 65 MB parsed; eight of them reach the limit. */
const LARGE = 990_000;
/** Each of these takes 20 MB parsed: 64 of them need more than twice the heap. */
const MEDIUM = 300_000;
const HEAP_MB = 512;
/** Concurrent requests beyond the limit may be rejected. */
const REFUSALS = ['OVERLOADED', 'CALL_TIMEOUT'];

const RESULTS: Readonly<Record<string, (args: { id?: number; units?: number }) => string>> = {
  initialize: () =>
    '{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"resources":{}},"serverInfo":{"name":"big","version":"1"}}',
  'tools/list': () => '{"tools":[{"name":"big","inputSchema":{"type":"object"}}]}',
  'resources/list': () => '{"resources":[{"uri":"big://one","name":"one"}]}',
  'resources/read': () => `{"contents":[],"x":[${'{},'.repeat(MEDIUM)}{}]}`,
  'tools/call': ({ id, units = MEDIUM }) =>
    `{"content":[{"type":"text","text":"${id}"}],"structuredContent":{"x":[${'{},'.repeat(units)}{}]}}`,
};

let upstream: Server;
let daemon: ChildDaemon;
beforeAll(async () => {
  upstream = createServer(async (request, response) => {
    let body = '';
    for await (const part of request) body += String(part);
    const { id, method, params } = JSON.parse(body === '' ? '{}' : body);
    const result = RESULTS[method]?.(params?.arguments ?? {});
    if (result === undefined) return void response.writeHead(id === undefined ? 202 : 404).end();
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(`{"jsonrpc":"2.0","id":${id},"result":${result}}`);
  });
  await once(upstream.listen(0, '127.0.0.1'), 'listening');
  const url = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}/mcp`;
  const servers = { big: { url, callTimeoutMs: 120_000, maxInFlight: 100 } };
  daemon = await childDaemon({ servers }, { heapMb: HEAP_MB });
  expect(await daemon.call('big', 'big', { id: 0, units: 1 })).toMatchObject({ success: true });
}, 60_000);
afterAll(async () => {
  await daemon.remove();
  upstream.close();
  upstream.closeAllConnections();
});

const expectAlive = async (): Promise<void> => {
  expect(daemon.child.exitCode).toBe(null);
  expect((await daemon.fetch('/health')).status).toBe(200);
};

const textOf = async (path: string, body: object, headers: object = {}): Promise<string> => {
  const response = await daemon.fetch(path, { method: 'POST', headers, body: JSON.stringify(body) });
  return response.text();
};

it('a batch of the largest answers comes whole and in order', { timeout: 300_000 }, async () => {
  const calls = Array.from({ length: 12 }, (_, id) => ({
    server: 'big',
    tool_name: 'big',
    // The small ones finish before the first one.
    arguments: { id, units: id === 0 || id % 3 !== 0 ? LARGE : 1 },
    timeout_ms: 300_000,
  }));
  const text = await textOf('/mcp/calls', { calls });
  await expectAlive();
  const starts = [
    ...text.matchAll(/\{"success":(\w+),"result":\{"content":\[\{"type":"text","text":"(\d+)"/g),
  ];
  expect(starts.map(([, success, id]) => `${id} ${success}`)).toEqual(calls.map((_, id) => `${id} true`));
  expect(text.startsWith('{"results":[{') && text.endsWith('}]}')).toBe(true);
  expect(text.length).toBeGreaterThan(9 * LARGE * 3);
});

it('64 concurrent large responses over every transport do not crash it, even if they are not read', {
  timeout: 300_000,
}, async () => {
  const call = { server: 'big', tool_name: 'big', arguments: { id: 7 }, timeout_ms: 120_000 };
  const modern = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'c', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const { tools } = (await (await daemon.fetch('/tools')).json()) as { tools: Array<{ name: string }> };
  const name = String(tools[0]?.name);
  const rpc = { jsonrpc: '2.0', id: 1, method: 'tools/call' };
  const params = { name, arguments: { id: 7 }, _meta: modern };
  const accept = 'application/json, text/event-stream';
  const mcpHeaders = {
    ...{ accept, 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': name },
  };
  const ways: ReadonlyArray<() => Promise<string>> = [
    () => textOf('/mcp/call', call),
    () => textOf('/mcp/call', call, { accept: 'text/event-stream' }),
    () => textOf('/mcp', { ...rpc, params }, mcpHeaders),
    () => textOf('/resources/read', { server: 'big', uri: 'big://one' }),
  ];
  const idle = await Promise.all(Array.from({ length: 8 }, () => unread(JSON.stringify(call))));
  const texts = await Promise.all(ways.flatMap((way) => Array.from({ length: 14 }, way)));
  await expectAlive();
  for (const text of texts)
    expect(text.length > MEDIUM * 3 || REFUSALS.some((code) => text.includes(code)), text.slice(0, 300)).toBe(
      true,
    );
  expect(texts.filter((text) => text.length > MEDIUM * 3).length).toBeGreaterThan(3);
  for (const socket of idle) socket.destroy();
  // All memory is free again: a single request gets its response.
  for (const way of ways) expect((await way()).length).toBeGreaterThan(MEDIUM * 3);
});

/** A client that sends a request and does not read the response. */
async function unread(body: string): Promise<Socket> {
  const { port, host } = new URL(daemon.url);
  const socket = connect(Number(port), '127.0.0.1').on('error', () => {});
  await once(socket, 'connect');
  const headers = ['POST /mcp/call HTTP/1.1', `host: ${host}`, `authorization: Bearer ${daemon.token}`];
  socket.write(
    [...headers, 'content-type: application/json', `content-length: ${body.length}`, '', body].join('\r\n'),
  );
  socket.pause();
  return socket;
}
