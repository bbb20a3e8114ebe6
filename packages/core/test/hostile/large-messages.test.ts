import { setImmediate as nextTurn } from 'node:timers/promises';
import { fixture, sampled, waitUntil } from '@turnbuckle/testing';
import type { Runtime } from 'turnbuckle';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createOwnRuntime } from './own-runtime.js';
import { type RawServer, rawServer } from './raw-server.js';
import { expectCalm, strainOf } from './strain.js';
import { say } from './with-runtime.js';

const MB = 1_024 * 1_024;
const BYTES = 10 * MB - 2_000;

/** Shapes of 10 MB of JSON. */
const SHAPES: Readonly<Record<string, object>> = {
  'one text': { unit: 'x', before: '"', after: '"' },
  'escaped text': { unit: '\\"', before: '"', after: '"' },
  'numbers of 20 digits': { unit: '12345678901234567890,' },
  'rows of a table': { unit: '{"id":12,"name":"abc def ghi","tags":["a","b"],"ok":true},' },
  texts: { unit: '"abcdefgh",' },
  'lists of lists': { unit: '[[1234,5678,9012],["abcdefghijkl","mnopqrst"],["abcdefgh"]],' },
};
/** Too many parts to be parsed in time. */
const TOO_MANY: Readonly<Record<string, object>> = {
  zeros: { unit: '0,' },
  'empty objects': { unit: '{},' },
  'empty lists': { unit: '[],' },
  'members of one object': { unit: '"k#":0,', before: '{', after: '"z":0}' },
};

describe.each(['stdio', 'websocket', 'http', 'sse'] as const)('large messages over %s', (transport) => {
  let server: RawServer;
  let runtime: Runtime;
  beforeAll(async () => {
    server = await rawServer(transport);
    runtime = await createOwnRuntime({ servers: { big: server.config, good: fixture('echo') } });
    await runtime.connectAll();
    // Warm-up: everything that is compiled or loaded lazily.
    await call({ kind: 'answer', bytes: 300_000, ...SHAPES['rows of a table'] });
    await say(runtime, 'good', 'warm');
  });
  afterAll(async () => {
    await runtime.close();
    server.stop();
  });
  const call = (big: object) => runtime.callTool('big', 'say', { big }, { timeoutMs: 60_000 });

  /** Calls the other server during the work. Returns how long the event loop was blocked, and the number of calls. */
  async function stallDuring(work: Promise<unknown>): Promise<{ stallMs: number; answers: number }> {
    let isOver = false;
    let answers = 0;
    const over = work.finally(() => {
      isOver = true;
    });
    over.catch(() => {});
    const { stallMs } = await strainOf(async () => {
      while (!isOver) {
        expect(await say(runtime, 'good', `neighbour ${answers}`)).toBe(`neighbour ${answers}`);
        answers += 1;
        await nextTurn();
      }
    });
    await over;
    return { stallMs, answers };
  }

  it.each(sampled(Object.entries(SHAPES), 3))(
    'arrive, and another server is served meanwhile: %s',
    async (_, shape) => {
      const large = call({ kind: 'answer', bytes: BYTES, ...shape });
      const { stallMs, answers } = await stallDuring(large);
      const { content, structuredContent } = await large;
      expect(content).toEqual([{ type: 'text', text: 'big' }]);
      expect(JSON.stringify(structuredContent).length).toBeGreaterThan(BYTES * 0.9);
      expect(answers).toBeGreaterThan(1);
      expectCalm(stallMs);
    },
    60_000,
  );

  it.each(sampled(Object.entries(TOO_MANY), 3))(
    'are rejected if they have too many parts: %s',
    async (_, shape) => {
      const large = call({ kind: 'answer', bytes: BYTES, ...shape });
      const { stallMs } = await stallDuring(
        expect(large).rejects.toMatchObject({ code: 'RESPONSE_TOO_LARGE' }),
      );
      expectCalm(stallMs);
      expect(runtime.serverStatus('big').status).toBe('connected');
    },
    60_000,
  );

  // `times` makes it an event stream over HTTP.
  const UNREADABLE = [
    ['a response in a batch', { kind: 'batch', bytes: 8 * MB }],
    ['a response in a batch, on a stream', { kind: 'batch', bytes: 8 * MB, times: 2 }],
    ['a response with its id in the middle', { kind: 'middle', bytes: 4.5 * MB }],
  ] as const;
  it.each(sampled(UNREADABLE, 3))(
    'fail immediately if they cannot be parsed, and nothing else fails: %s',
    async (_, big) => {
      const shape = { ...TOO_MANY['empty objects'], ...big };
      // The timeout is a minute.
      const others = runtime.callTool('big', 'say', { lines: [], text: 'other' }, { timeoutMs: 60_000 });
      await expect(call(shape)).rejects.toMatchObject({ code: 'RESPONSE_TOO_LARGE' });
      expect((await others).content).toEqual([{ type: 'text', text: 'other' }]);
      expect(runtime.serverStatus('big').status).toBe('connected');
    },
    40_000,
  );

  it('are not parsed if they were not requested', async () => {
    const before = runtime.serverStatus('big').ignored.unasked;
    for (const kind of ['notice', 'late']) {
      const { stallMs } = await stallDuring(
        call({ kind, bytes: BYTES, times: 3, ...TOO_MANY['empty objects'] }),
      );
      expectCalm(stallMs);
    }
    await waitUntil(() => runtime.serverStatus('big').ignored.unasked >= before + 6);
  }, 60_000);

  it('keep their order', async () => {
    const seen: unknown[] = [];
    const stop = runtime.on('server.notice', ({ data }) => void seen.push(String(data).slice(0, 3)));
    const notice = (data: string): string =>
      `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"${data}"}}`;
    const lines = ['a', 'b', 'c', 'd'].flatMap((name) => [
      notice(`${name}.${'x'.repeat(300_000)}`),
      notice(`${name}!`),
    ]);
    await runtime.callTool('big', 'say', { lines }, { timeoutMs: 60_000 });
    await waitUntil(() => seen.length === 8);
    expect(seen).toEqual(['a.x', 'a!', 'b.x', 'b!', 'c.x', 'c!', 'd.x', 'd!']);
    stop();
  }, 60_000);
});
