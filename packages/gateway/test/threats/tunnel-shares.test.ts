/** A client on a stdio tunnel that takes all it can get: it has the same share as any other. */
import { connect, type Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import { waitUntil } from '@turnbuckle/testing';
import type { Caller, ServerInput } from 'turnbuckle';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { Authenticator } from '../../src/http/authenticate.js';
import type { HttpLimits } from '../../src/http/server/http-limits.js';
import { HttpServer } from '../../src/http/server/http-server.js';
import { createMcpRoutes } from '../../src/mcp/mcp-routes.js';
import { createStdioTunnel } from '../../src/mcp/stdio/stdio-tunnel.js';
import { EVERYTHING, openStand, type Stand } from '../mcp/stand.js';

const MEGABYTE = 1_024 * 1_024;
/** Never answers `wait`; answers `big` with a text of the given size. */
const SERVER = `
const say = (id, result) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result }) + '\\n');
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (method === 'initialize') return say(id, { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'x', version: '1' } });
  if (method === 'tools/list') return say(id, { tools: ['wait', 'big'].map((name) => ({ name, inputSchema: { type: 'object' } })) });
  if (params?.name === 'big') return say(id, { content: [{ type: 'text', text: 'x'.repeat(params.arguments.size) }] });
});`;
const HELLO = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'c', version: '1' } };
const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
};

let stand: Stand;
beforeAll(async () => {
  const up: ServerInput = { command: process.execPath, args: ['-e', SERVER], era: 'legacy' };
  stand = await openStand({ servers: { up } });
});
afterAll(() => stand.close());

async function openHttp(limits: Partial<HttpLimits>): Promise<{ http: HttpServer; port: number }> {
  const http = new HttpServer({
    routes: createMcpRoutes(stand.endpoint),
    tunnel: createStdioTunnel(stand.endpoint, () => undefined),
    authenticator: new Authenticator({
      credentials: {
        find: (id) => ({ caller: { ...EVERYTHING, id } satisfies Caller, access: new Set(['call']) }),
      },
    }),
    limits,
    onDefect: (thrown) => {
      throw thrown;
    },
  });
  const { port } = await http.listen(0, '127.0.0.1');
  onTestFinished(() => http.close(0));
  return { http, port };
}

interface Received {
  readonly id?: unknown;
  readonly result?: object;
  readonly error?: { readonly data?: { readonly code?: string } };
}

interface Lines {
  write(text: string): void;
  readonly received: Received[];
}

function collect(received: Received[], onHead?: () => void): (part: string) => void {
  let rest = '';
  let isOpen = onHead === undefined;
  return (part) => {
    rest += part;
    if (!isOpen) {
      rest = rest.slice(rest.indexOf('\r\n\r\n') + 4);
      isOpen = true;
      onHead?.();
    }
    if (!part.includes('\n')) return;
    const lines = rest.split('\n');
    rest = lines.pop() ?? '';
    received.push(...lines.map((line) => JSON.parse(line) as Received));
  };
}

async function openTunnel(port: number, who: string): Promise<Lines & { readonly socket: Socket }> {
  const socket = connect(port, '127.0.0.1').on('error', () => {});
  onTestFinished(() => void socket.destroy());
  const received: Received[] = [];
  await new Promise<void>((resolve) => {
    socket.setEncoding('utf8').on('data', collect(received, resolve));
    socket.write(
      `CONNECT mcp-stdio:0 HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\nauthorization: Bearer ${who}\r\n\r\n`,
    );
  });
  return { socket, received, write: (text) => void socket.write(`${text}\n`) };
}

function openStreams(): Lines {
  const input = new PassThrough();
  const output = new PassThrough();
  const received: Received[] = [];
  output.setEncoding('utf8').on('data', collect(received));
  const serving = stand.endpoint.serveStdio({ input, output, caller: EVERYTHING, maxBytes: 64 * MEGABYTE });
  onTestFinished(async () => {
    input.end();
    await serving;
  });
  return { received, write: (text) => void input.write(`${text}\n`) };
}

const say = (lines: Lines, id: number, method: string, params: object): void =>
  lines.write(JSON.stringify({ jsonrpc: '2.0', id, method, params }));
const call = (name: string, args: object = {}) => ({ name: `up_${name}`, arguments: args });
const answerTo = (lines: Lines, id: unknown) => lines.received.find((one) => one.id === id);
const refused = (lines: Lines) => lines.received.filter(({ error }) => error?.data?.code === 'OVERLOADED');
async function ask(lines: Lines, id: number, method: string, params: object): Promise<Received | undefined> {
  say(lines, id, method, params);
  await waitUntil(() => answerTo(lines, id) !== undefined, 20_000);
  return answerTo(lines, id);
}

describe('requests on a connection of lines', () => {
  it.each([
    ['calls', 'tools/call', call('wait')],
    ['streams', 'subscriptions/listen', { notifications: { toolsListChanged: true }, _meta: META }],
  ])(
    '%s count against the share of their caller; a cancellation gets through',
    async (_what, method, params) => {
      const { http, port } = await openHttp({ maxInFlight: 32 });
      const [ada, twin] = [await openTunnel(port, 'ada'), await openTunnel(port, 'ada')];
      if (method === 'tools/call') await ask(ada, 1, 'initialize', HELLO);
      for (let id = 100; id < 140; id += 1) say(ada, id, method, params);
      await waitUntil(() => refused(ada).length === 24);
      expect(http.inFlight).toBe(16);
      // Another connection is not another share.
      expect((await ask(twin, 2, 'tools/list', { _meta: META }))?.error?.data?.code).toBe('OVERLOADED');
      const bob = await openTunnel(port, 'bob');
      expect((await ask(bob, 3, 'tools/list', { _meta: META }))?.result).toBeDefined();
      ada.write('{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":100}}');
      await waitUntil(() => http.inFlight === 15);
      expect((await ask(twin, 4, 'tools/list', { _meta: META }))?.result).toBeDefined();
      ada.socket.destroy();
      await waitUntil(() => http.inFlight === 0);
    },
  );

  it('count by their bytes, and are rejected with their id beyond the share', async () => {
    const { http, port } = await openHttp({ maxHeldBytes: 16 * MEGABYTE });
    const ada = await openTunnel(port, 'ada');
    await ask(ada, 1, 'initialize', HELLO);
    const wait = call('wait', { pad: 'x'.repeat(MEGABYTE) });
    for (let id = 100; id < 120; id += 1) {
      const first = JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params: wait });
      const last = JSON.stringify({ method: 'tools/call', params: wait, jsonrpc: '2.0', id });
      ada.write(id % 2 === 0 ? first : last);
    }
    await waitUntil(() => refused(ada).length + http.inFlight === 20, 20_000);
    expect(http.inFlight).toBeGreaterThan(4);
    expect(http.inFlight).toBeLessThan(9);
    expect(refused(ada).every(({ id }) => Number(id) >= 100)).toBe(true);
    const bob = await openTunnel(port, 'bob');
    const padded = { _meta: META, pad: 'x'.repeat(MEGABYTE) };
    expect((await ask(bob, 3, 'tools/list', padded))?.result).toBeDefined();
    ada.write('{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":100}}');
    await waitUntil(() => answerTo(ada, 100) !== undefined);
    ada.socket.destroy();
    await waitUntil(() => http.inFlight === 0);
    const again = await openTunnel(port, 'ada');
    expect((await ask(again, 4, 'tools/list', padded))?.result).toBeDefined();
  });

  it('count against the rate limit', async () => {
    const { port } = await openHttp({ requests: { perSecond: 0.001, burst: 5 } });
    const ada = await openTunnel(port, 'ada');
    for (let id = 1; id <= 10; id += 1) say(ada, id, 'tools/list', { _meta: META });
    await waitUntil(() => ada.received.length === 10);
    expect(ada.received.filter(({ error }) => error?.data?.code === 'RATE_LIMITED')).toHaveLength(6);
  });

  it('are limited without a daemon too', async () => {
    const lines = openStreams();
    const listen = { notifications: { toolsListChanged: true }, _meta: META };
    for (let id = 100; id < 1_200; id += 1) say(lines, id, 'subscriptions/listen', listen);
    await waitUntil(() => refused(lines).length === 76, 20_000);
    lines.write('{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":100}}');
    await waitUntil(() => answerTo(lines, 100) !== undefined);
    expect((await ask(lines, 2, 'tools/list', { _meta: META }))?.result).toBeDefined();
  });
});

describe('responses on a stdio tunnel', () => {
  it('pass however large they are; a client that reads none is disconnected', async () => {
    const { http, port } = await openHttp({ maxUnsentBytes: 20 * MEGABYTE, slowReadMs: 3_000 });
    const ada = await openTunnel(port, 'ada');
    await ask(ada, 1, 'initialize', HELLO);
    const big = call('big', { size: 6 * MEGABYTE });
    expect(JSON.stringify((await ask(ada, 2, 'tools/call', big))?.result).length).toBeGreaterThan(
      6 * MEGABYTE,
    );
    const idle = await openTunnel(port, 'bob');
    await ask(idle, 1, 'initialize', HELLO);
    idle.socket.pause();
    for (let id = 2; id < 4; id += 1) say(idle, id, 'tools/call', big);
    await waitUntil(() => http.connections.open === 1, 30_000);
    expect((await ask(ada, 3, 'tools/list', {}))?.result).toBeDefined();
  }, 60_000);
});
