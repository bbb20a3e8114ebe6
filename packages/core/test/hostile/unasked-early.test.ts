/**
 * Unsolicited messages before and during a handshake, and during calls in the SDK lane: on every transport, in both eras,
 * as single messages and as a batch. They are counted from the first message on, not from the end of the handshake.
 */
import { writeFile } from 'node:fs/promises';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import { fixture, sampled, temporaryDirectory, timeBound, waitUntil } from '@turnbuckle/testing';
import type { Runtime, ServerInput } from 'turnbuckle';
import { preload } from 'turnbuckle/host';
import { beforeAll, describe, expect, it } from 'vitest';
import { createOwnRuntime } from './own-runtime.js';
import { type RawTransport, rawServer } from './raw-server.js';
import { strainOf } from './strain.js';
import { say } from './with-runtime.js';

const STALL_MS = 250;
const PER_SECOND = 10;
const MANY = 2_000;
const QUESTION = '{"jsonrpc":"2.0","id":1,"method":"roots/list"}';
const NOTICE = '{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}';
const CHANGED = '{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}';
const TEXTS = { questions: QUESTION, notices: NOTICE, changes: CHANGED };

const HELLO = `{"protocolVersion":"2025-11-25","supportedVersions":["2026-07-28"],"resultType":"complete","ttlMs":0,
"cacheScope":"private","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"raw","version":"1"}}`;

type Way = readonly [name: string, transport: RawTransport, ...options: string[]];
const WAYS: readonly Way[] = [
  ['stdio', 'stdio'],
  ['websocket', 'websocket'],
  ['http', 'http'],
  ['http, events', 'http', '--stream'],
  ['sse', 'sse'],
  ['in-process fetch', 'http'],
];
const EACH = WAYS.flatMap((way) =>
  (way[1] === 'sse' ? (['legacy'] as const) : (['legacy', 'modern'] as const)).flatMap((era) =>
    [true, false].map((expressLane) => ({ name: way[0], way, era, expressLane })),
  ),
);
type Setting = Omit<(typeof EACH)[number], 'name'>;

/** A server that sends such messages next to a well-behaved one. */
async function withServers(
  { way: [name, transport, ...options], era, expressLane }: Setting,
  more: readonly string[],
  work: (runtime: Runtime) => Promise<void>,
): Promise<void> {
  const directory = await temporaryDirectory();
  await writeFile(directory.file('hello.json'), HELLO.replaceAll('\n', ''));
  const server = await rawServer(transport, [...options, ...more, '--hello', directory.file('hello.json')]);
  const loud = { ...server.config, era, connectTimeoutMs: 30_000 } as ServerInput;
  const config = name === 'in-process fetch' ? inProcess(loud) : loud;
  const runtime = await createOwnRuntime({
    expressLane,
    servers: { loud: config, good: fixture('echo') },
    limits: { notificationsPerSecond: PER_SECOND },
    handlers: { roots: () => ({ roots: [] }) },
  });
  try {
    await runtime.connect('good');
    await say(runtime, 'good', 'warm');
    await work(runtime);
  } finally {
    await runtime.close();
    server.stop();
    await directory.remove();
  }
}

function inProcess(config: ServerInput): ServerInput {
  const { url, era } = config as { readonly url: string; readonly era: 'legacy' };
  const forward = async (request: Request): Promise<Response> =>
    fetch(url, {
      method: request.method,
      headers: request.headers,
      ...(request.method === 'POST' && { body: await request.text() }),
    });
  return { server: { fetch: forward }, era, connectTimeoutMs: 30_000 } as ServerInput;
}

/** Calls the other server during the work. Returns how long the event loop was blocked. */
async function stallOf(runtime: Runtime, work: Promise<unknown>): Promise<number> {
  let isOver = false;
  const over = work.finally(() => {
    isOver = true;
  });
  over.catch(() => {});
  const { stallMs } = await strainOf(async () => {
    while (!isOver) {
      expect(await say(runtime, 'good', 'neighbour')).toBe('neighbour');
      await nextTurn();
    }
  });
  await over;
  return stallMs;
}

/** The number of responses to server requests that the server has received. */
async function answered(runtime: Runtime): Promise<number> {
  const { content } = await runtime.callTool('loud', 'say', { answered: true });
  return content[0]?.type === 'text' ? Number(content[0].text) : Number.NaN;
}

/** The number of messages allowed in the elapsed time, plus one second at each end. */
const allowedSince = (begun: number): number =>
  PER_SECOND * (Math.ceil((performance.now() - begun) / 1_000) + 2);

describe.each(EACH)('$name, $era, express lane $expressLane', ({ way, era, expressLane }) => {
  // Loading modules lazily would count as a stall.
  beforeAll(() => preload());

  it.each(sampled(Object.entries(TEXTS), 3))(
    '%s before a handshake are bounded, and it is made',
    async (_what, text) => {
      const more = ['--before', `${MANY}`, '--text', text];
      await withServers({ way, era, expressLane }, more, async (runtime) => {
        const begun = performance.now();
        expect(await stallOf(runtime, runtime.connect('loud'))).toBeLessThan(timeBound(STALL_MS));
        expect(await say(runtime, 'loud', 'after')).toBe('after');
        expect(await answered(runtime)).toBeLessThanOrEqual(allowedSince(begun));
      });
    },
    60_000,
  );

  it.each(sampled(Object.entries(TEXTS), 3))(
    'too many %s in a batch with a handshake are rejected, however short they are',
    async (_what, text) => {
      const more = ['--before', '1500', '--text', text, '--batch'];
      await withServers({ way, era, expressLane }, more, async (runtime) => {
        const begun = performance.now();
        const connecting = runtime.connect('loud').then(
          () => 'connected',
          (error) => error.code,
        );
        expect(await stallOf(runtime, connecting)).toBeLessThan(timeBound(STALL_MS));
        // The body of an in-process fetch is not limited, but the messages in it are.
        const isOwn = way[0] === 'in-process fetch';
        expect(await connecting).toBe(isOwn ? 'connected' : 'RESPONSE_TOO_LARGE');
        if (isOwn) expect(await answered(runtime)).toBeLessThanOrEqual(allowedSince(begun));
      });
    },
    60_000,
  );

  it('a few server requests in a batch with a handshake are accepted', async () => {
    const more = ['--before', '3', '--text', QUESTION, '--batch'];
    await withServers({ way, era, expressLane }, more, async (runtime) => {
      if (way.includes('--stream')) return; // A stream of events has no batches.
      await runtime.connect('loud');
      expect(await say(runtime, 'loud', 'after')).toBe('after');
      if (era === 'legacy') await waitUntil(async () => (await answered(runtime)) === 3);
    });
  });

  it('server requests during a call are limited', async () => {
    await withServers({ way, era, expressLane }, [], async (runtime) => {
      await runtime.connect('loud');
      const begun = performance.now();
      const call = runtime.callTool('loud', 'say', { lines: [QUESTION], times: MANY });
      expect(await stallOf(runtime, call)).toBeLessThan(timeBound(STALL_MS));
      expect(await answered(runtime)).toBeLessThanOrEqual(allowedSince(begun));
    });
  }, 60_000);
});

describe('in-process, an object', () => {
  it('server requests before a handshake are limited', async () => {
    let count = 0;
    const connect = async (transport: Transport): Promise<void> => {
      transport.onmessage = (message) => {
        if (!('method' in message)) {
          count += 1;
          return;
        }
        if (!('id' in message)) return;
        const question = JSON.parse(QUESTION) as JSONRPCMessage;
        for (let at = 0; at < MANY; at += 1) void transport.send(question);
        const result = message.method === 'initialize' ? JSON.parse(HELLO) : { tools: [] };
        void transport.send({ jsonrpc: '2.0', id: message.id, result });
      };
      await transport.start();
    };
    const runtime = await createOwnRuntime({
      servers: { loud: { server: { connect }, era: 'legacy' } as ServerInput },
      limits: { notificationsPerSecond: PER_SECOND },
      handlers: { roots: () => ({ roots: [] }) },
    });
    const begun = performance.now();
    await runtime.connect('loud');
    await runtime.close();
    expect(count).toBeLessThanOrEqual(allowedSince(begun));
  });
});
