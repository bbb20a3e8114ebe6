/** A large list that one token requests on many connections without reading: it exists once, and others do not wait for it. */
import { connect, type Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { collectGarbage, timeBound, waitUntil } from '@turnbuckle/testing';
import type { Caller, ServerInput } from 'turnbuckle';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { Bridge } from '../../src/bridge/bridge-call.js';
import { createBridgeRoutes } from '../../src/bridge/bridge-routes.js';
import { InlineServers } from '../../src/bridge/inline-servers.js';
import { Authenticator } from '../../src/http/authenticate.js';
import type { HttpLimits } from '../../src/http/server/http-limits.js';
import { HttpServer } from '../../src/http/server/http-server.js';
import { type LargeResponse, LargeResponseQueue } from '../../src/http/server/large-response-queue.js';
import { createMcpRoutes } from '../../src/mcp/mcp-routes.js';
import { createStdioTunnel } from '../../src/mcp/stdio/stdio-tunnel.js';
import { EVERYTHING, openStand, type Stand } from './stand.js';

const MB = 1_024 * 1_024;
const TOOLS = 80;
/** Lists four megabytes; the word has letters of several bytes and of one byte. */
const SERVER = `
const say = (id, result) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result }) + '\\n');
const tools = Array.from({ length: ${TOOLS} }, (_, at) => ({ name: 't' + at, description: 'größer '.repeat(6500), inputSchema: { type: 'object' } }));
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method } = JSON.parse(line);
  if (method === 'initialize') return say(id, { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'x', version: '1' } });
  if (method === 'tools/list') return say(id, { tools });
});`;
const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
};

let stand: Stand;
beforeAll(async () => {
  const up: ServerInput = { command: process.execPath, args: ['-e', SERVER], era: 'legacy' };
  stand = await openStand({ servers: { up } });
}, 60_000);
afterAll(() => stand.close());

async function openHttp(limits: Partial<HttpLimits> = {}): Promise<{ http: HttpServer; port: number }> {
  const inline = new InlineServers(
    () => Promise.reject(new Error('nobody brings a server along')),
    () => ({ commands: [], urls: [], maxEndpoints: 1 }),
  );
  const http = new HttpServer({
    routes: [
      ...createMcpRoutes(stand.endpoint),
      ...createBridgeRoutes(new Bridge({ runtime: stand.runtime, inline })),
    ],
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

const rpc = (id: number, method: string, params: object): string =>
  JSON.stringify({ jsonrpc: '2.0', id, method, params });

function post(port: number, who: string, body: string, ...more: string[]): string {
  const head = [
    'POST /mcp HTTP/1.1',
    `Host: 127.0.0.1:${port}`,
    `Authorization: Bearer ${who}`,
    'Content-Type: application/json',
    'Accept: application/json, text/event-stream',
    `Content-Length: ${Buffer.byteLength(body)}`,
    ...more,
  ];
  return `${head.join('\r\n')}\r\n\r\n${body}`;
}

const MODERN = ['MCP-Protocol-Version: 2026-07-28', 'Mcp-Method: tools/list'];
/** A request for the list on a new connection, over each transport. */
const WAYS: Readonly<Record<string, (port: number, who: string) => Promise<string>>> = {
  'POST, modern': async (port, who) => post(port, who, rpc(1, 'tools/list', { _meta: META }), ...MODERN),
  'POST, in a legacy session': async (port, who) =>
    post(port, who, rpc(1, 'tools/list', {}), `Mcp-Session-Id: ${await begin(port, who)}`),
  'a stdio tunnel': async (port, who) =>
    `CONNECT mcp-stdio:0 HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${who}\r\n\r\n${rpc(1, 'tools/list', { _meta: META })}\n`,
};

/** Without a body. */
const get = (port: number, who: string, path: string): string =>
  `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${who}\r\n\r\n`;

async function begin(port: number, who: string): Promise<string> {
  const body = rpc(0, 'initialize', {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'c', version: '1' },
  });
  const headers = {
    authorization: `Bearer ${who}`,
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
  };
  const response = await fetch(`http://127.0.0.1:${port}/mcp`, { method: 'POST', headers, body });
  await response.text();
  return response.headers.get('mcp-session-id') ?? '';
}

interface Asked {
  readonly socket: Socket;
  /** What has been received, once it is read. */
  read(): Promise<string>;
}

function ask(port: number, text: string): Asked {
  const socket = connect(port, '127.0.0.1').on('error', () => {});
  socket.pause();
  socket.write(text);
  onTestFinished(() => void socket.destroy());
  return { socket, read: () => readList(socket) };
}

/** The last thing in an answer of one line or one body is its closing bracket. */
async function readList(socket: Socket): Promise<string> {
  const parts: Buffer[] = [];
  let bytes = 0;
  await new Promise<void>((resolve) => {
    socket.on('close', () => resolve());
    socket.on('data', (part: Buffer) => {
      parts.push(part);
      bytes += part.length;
      if (bytes > MB && /\}\s*$/.test(part.subarray(-4).toString('latin1'))) resolve();
    });
    socket.resume();
  });
  const text = Buffer.concat(parts).toString();
  // The socket stays open: its data must not count as memory of the daemon.
  parts.length = 0;
  return text.slice(text.lastIndexOf('{"jsonrpc"'));
}

const toolsIn = (text: string): number => {
  const { result } = JSON.parse(text) as { result: { tools: Array<{ description: string }> } };
  expect(result.tools.every(({ description }) => description === 'größer '.repeat(6_500))).toBe(true);
  return result.tools.length;
};

async function held(): Promise<number> {
  // The memory of buffers is freed only after a turn of the event loop.
  for (let round = 0; round < 3; round += 1) {
    collectGarbage();
    await nextTurn();
  }
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

describe.each(Object.keys(WAYS))('a large list that is not read: %s', (way) => {
  const request = (port: number, who: string): Promise<string> =>
    WAYS[way]?.(port, who) ?? Promise.reject(new Error(way));

  it('is in memory once, blocks no other client, and is complete for a client that reads it late', async () => {
    const { port } = await openHttp({ slowReadMs: 60_000 });
    expect(toolsIn(await ask(port, await request(port, 'ada')).read())).toBe(TOOLS);
    const texts = await Promise.all(Array.from({ length: 40 }, () => request(port, 'ada')));
    const before = await held();
    let longestMs = 0;
    let last = performance.now();
    const timer = setInterval(() => {
      longestMs = Math.max(longestMs, performance.now() - last);
      last = performance.now();
    }, 5);
    const asked = texts.map((text) => ask(port, text));
    // As long as ada reads nothing, bob gets what he asks for.
    for (let round = 0; round < 3; round += 1)
      expect(toolsIn(await ask(port, await request(port, 'bob')).read())).toBe(TOOLS);
    clearInterval(timer);
    expect(longestMs).toBeLessThan(timeBound(150));
    expect((await held()) - before).toBeLessThan(32 * MB);
    for (const one of asked) expect(toolsIn(await one.read())).toBe(TOOLS);
  }, 120_000);

  it('is not kept forever for a client that does not read', async () => {
    const { http, port } = await openHttp({ maxUnsentBytes: 12 * MB, slowReadMs: 1_000, keepAliveMs: 500 });
    const texts = await Promise.all(Array.from({ length: 12 }, () => request(port, 'ada')));
    for (const text of texts) ask(port, text);
    // Some wait for those before them.
    await waitUntil(() => http.inFlight > 1, 10_000);
    await waitUntil(() => http.inFlight === 0 && http.connections.open <= 1, 60_000);
    expect(toolsIn(await ask(port, await request(port, 'bob')).read())).toBe(TOOLS);
  }, 120_000);
});

describe('a large list of the bridge', () => {
  it('is built one at a time, and not for clients that have disconnected: others get theirs', async () => {
    const { http, port } = await openHttp({ maxUnsentBytes: 12 * MB });
    const before = await held();
    const sockets = Array.from({ length: 60 }, () => ask(port, get(port, 'ada', '/tools')).socket);
    await waitUntil(() => http.inFlight > 10, 20_000);
    const begun = performance.now();
    const headers = { authorization: 'Bearer bob' };
    const response = await fetch(`http://127.0.0.1:${port}/tools`, { headers });
    expect(((await response.json()) as { tools: unknown[] }).tools).toHaveLength(TOOLS);
    // Not after all requests of ada.
    expect(performance.now() - begun).toBeLessThan(timeBound(4_000));
    expect((await held()) - before).toBeLessThan(80 * MB);
    for (const socket of sockets) socket.destroy();
    await waitUntil(() => http.inFlight === 0, timeBound(4_000));
  }, 120_000);
});

describe('large responses', () => {
  it('wait while too much is unread, continue when it is read, and share one list', async () => {
    const unsent = new Map<object, number>();
    const answers = new LargeResponseQueue({
      maxUnsentBytes: 100,
      maxWaitMs: 60_000,
      unsentBytesOf: (share) => unsent.get(share) ?? 0,
    });
    const [ada, bob] = [{}, {}];
    const list = Buffer.alloc(60);
    const of = (identityUsage: object, shared = list): LargeResponse => ({
      identityUsage,
      bytes: shared.length,
      shared,
      isOpen: () => true,
    });
    expect(answers.waitForTurn(of(ada))).toBe(true);
    unsent.set(ada, 60);
    const second = answers.waitForTurn(of(ada));
    const third = answers.waitForTurn(of(ada));
    // Waiting responses must share the same bytes.
    expect(answers.waitForTurn(of(ada, Buffer.alloc(50)))).toBe(false);
    // Others do not wait for it.
    expect(await answers.waitForTurn(of(bob))).toBe(true);
    unsent.set(ada, 30);
    expect(await second).toBe(true);
    unsent.set(ada, 90);
    const isThird = await Promise.race([third, new Promise((resolve) => setTimeout(resolve, 100, 'waits'))]);
    expect(isThird).toBe('waits');
    unsent.set(ada, 0);
    expect(await third).toBe(true);
  });
});
