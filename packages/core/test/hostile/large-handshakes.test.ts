import { writeFile } from 'node:fs/promises';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { fixture, sampled, temporaryDirectory, timeBound } from '@turnbuckle/testing';
import type { Runtime, ServerInput } from 'turnbuckle';
import { preload } from 'turnbuckle/host';
import { beforeAll, describe, expect, it } from 'vitest';
import { createOwnRuntime } from './own-runtime.js';
import { type RawTransport, rawServer } from './raw-server.js';
import { strainOf } from './strain.js';
import { say } from './with-runtime.js';

const MB = 1_024 * 1_024;
const STALL_MS = 250;

const many = (unit: string, bytes: number): string =>
  Array.from({ length: Math.floor(bytes / (unit.length + 6)) }, (_, at) => unit.replace('#', `${at}`)).join();

/** Members of a handshake result, as JSON text. */
const LARGE: Readonly<Record<string, () => string>> = {
  'a text of 4.5 MB': () => `"x":"${'x'.repeat(4.5 * MB)}"`,
  'a name of 4.5 MB': () => `"serverInfo":{"name":"${'x'.repeat(4.5 * MB)}","version":"1"}`,
  'instructions of 4.5 MB': () => `"instructions":"${'Be good. '.repeat(MB / 2)}"`,
  'members of an object, 1 MB': () => `"x":{${many('"k#":0', MB)}}`,
  'its own members, 4.5 MB': () => many('"k#":0', 4.5 * MB),
  'capabilities of 1 MB': () => `"capabilities":{"experimental":{${many('"k#":{"a":[]}', MB)}}}`,
  'capabilities of 4.5 MB': () => `"capabilities":{"experimental":{${many('"k#":{"a":[]}', 4.5 * MB)}}}`,
  icons: () =>
    `"serverInfo":{"name":"a","version":"1","icons":[${many('{"src":"https://a.b/#"}', 4.5 * MB)}]}`,
  'empty lists': () => `"capabilities":{"experimental":{"x":{"y":[${'[],'.repeat(1.5 * MB)}[]]}}}`,
  'empty objects': () => `"_meta":{"x":[${'{},'.repeat(MB)}{}]}`,
  'lists in lists': () => `"x":${'['.repeat(100_000)}${']'.repeat(100_000)}`,
};

/** The result of a handshake of either era. */
const handshakeResult = (members: string): string =>
  `{"protocolVersion":"2025-11-25","supportedVersions":["2026-07-28"],"resultType":"complete","ttlMs":0,
    "cacheScope":"private","capabilities":{"tools":{}},"serverInfo":{"name":"raw","version":"1"},${members}}`.replace(
    /\n\s*/,
    '',
  );

type Way = [transport: RawTransport, ...options: string[]];
const WAYS: readonly Way[] = [['stdio'], ['websocket'], ['http'], ['http', '--stream'], ['sse']];

interface Setting {
  readonly way: Way;
  readonly era: 'legacy' | 'modern';
  readonly expressLane: boolean;
  /** Additional members of the handshake result. */
  readonly members: string;
}

/** A server with such a handshake next to a well-behaved one. */
async function withServers(
  { way: [transport, ...options], era, expressLane, members }: Setting,
  work: (runtime: Runtime) => Promise<void>,
): Promise<void> {
  const directory = await temporaryDirectory();
  await writeFile(directory.file('hello.json'), handshakeResult(members));
  const server = await rawServer(transport, [...options, '--hello', directory.file('hello.json')]);
  const big = { ...server.config, era, connectTimeoutMs: 30_000 } as ServerInput;
  const runtime = await createOwnRuntime({ expressLane, servers: { big, good: fixture('echo') } });
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

/** Calls the other server during the work. Returns how long the event loop was blocked. */
async function stallOf(runtime: Runtime, work: Promise<unknown>): Promise<number> {
  let isOver = false;
  const over = work.finally(() => {
    isOver = true;
  });
  const { stallMs } = await strainOf(async () => {
    while (!isOver) {
      expect(await say(runtime, 'good', 'neighbour')).toBe('neighbour');
      await nextTurn();
    }
  });
  await over;
  return stallMs;
}

const CASES = WAYS.flatMap((way) =>
  (way[0] === 'sse' ? (['legacy'] as const) : (['legacy', 'modern'] as const)).flatMap((era) =>
    [true, false].flatMap((expressLane) =>
      Object.keys(LARGE).map((shape) => ({ way, era, expressLane, shape, title: way.join(' ') })),
    ),
  ),
);

describe('a handshake', () => {
  // Loading modules lazily would count as a stall.
  beforeAll(() => preload());

  // Every third combination: this covers each transport, era and shape.
  it.each(
    sampled(
      CASES.filter((_, at) => at % 3 === 0),
      5,
    ),
  )(
    'that is too large is rejected, and does not block other work: $title, $era, lane $expressLane, $shape',
    async ({ shape, ...setting }) => {
      await withServers({ ...setting, members: LARGE[shape]?.() ?? '' }, async (runtime) => {
        const connecting = runtime.connect('big').then(
          () => 'connected',
          (error) => error.code,
        );
        expect(await stallOf(runtime, connecting)).toBeLessThan(timeBound(STALL_MS));
        const isDeep = shape === 'lists in lists';
        expect(await connecting).toBe(isDeep ? 'PROTOCOL_VIOLATION' : 'RESPONSE_TOO_LARGE');
        expect(runtime.serverStatus('big')).toMatchObject({ instructions: undefined });
      });
    },
    60_000,
  );

  it.each(WAYS)(
    'may be large, but only a bounded part of it is kept: %s %s',
    async (...way) => {
      const words = 'Be good. '.repeat(40_000);
      const info = `{"name":"${'n'.repeat(300_000)}","version":"${'1'.repeat(1_000)}","title":"kept"}`;
      const members = `"instructions":"${words}","serverInfo":${info},"_meta":{"io.modelcontextprotocol/serverInfo":${info}}`;
      for (const expressLane of [true, false]) {
        const setting: Setting = { way, era: 'legacy', expressLane, members };
        await withServers(setting, async (runtime) => {
          expect(await stallOf(runtime, runtime.connect('big'))).toBeLessThan(timeBound(STALL_MS));
          const { instructions = '', serverInfo } = runtime.serverStatus('big');
          expect(instructions).toHaveLength(65_536);
          expect(instructions.endsWith('…')).toBe(true);
          expect(serverInfo?.name).toHaveLength(256);
          expect(serverInfo?.version).toHaveLength(256);
          expect(await say(runtime, 'big', 'after')).toBe('after');
        });
      }
    },
    60_000,
  );

  it.each(WAYS.filter(([transport]) => transport === 'http'))(
    'is followed by large responses that the SDK passes on without parsing them: %s %s',
    async (...way) => {
      await withServers({ way, era: 'legacy', expressLane: false, members: '"x":1' }, async (runtime) => {
        await runtime.connect('big');
        const unit = '{"id":12,"name":"abc def ghi","tags":["a","b"],"ok":true},';
        const large = { kind: 'answer', bytes: 10 * MB - 2_000, unit };
        const call = runtime.callTool('big', 'say', { big: large }, { timeoutMs: 60_000 });
        expect(await stallOf(runtime, call)).toBeLessThan(timeBound(STALL_MS));
        const { content, structuredContent } = await call;
        expect(content).toEqual([{ type: 'text', text: 'big' }]);
        expect(JSON.stringify(structuredContent).length).toBeGreaterThan(9 * MB);
        // This is parsed in slices too, and fails the call.
        const tooMany = { ...large, unit: '{},' };
        await expect(runtime.callTool('big', 'say', { big: tooMany })).rejects.toMatchObject({
          code: 'RESPONSE_TOO_LARGE',
        });
        expect(await say(runtime, 'big', 'after')).toBe('after');
      });
    },
    90_000,
  );
});
