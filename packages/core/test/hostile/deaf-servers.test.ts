import { collectGarbage, waitUntil } from '@turnbuckle/testing';
import type { Runtime, TurnbuckleError } from 'turnbuckle';
import type { ServersInput } from 'turnbuckle/host';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Outbox } from '../../src/connection/transports/outbox.js';
import { ownServer, startOwnServer } from './own-server.js';
import { withRuntime } from './with-runtime.js';

type Entry = Exclude<ServersInput, readonly unknown[]>[string];

const MB = 1_024 * 1_024;
const CHANNELS = ['stdio', 'websocket'];
const WAYS = ['stdio', 'websocket', 'http', 'sse'];

async function deaf(way: string, ...forMs: string[]): Promise<Entry> {
  const more = { era: 'legacy' as const, pingMs: 0 };
  if (way === 'stdio') return { ...ownServer('deaf', way, ...forMs), ...more };
  const { url, stop } = await startOwnServer('deaf', way, ...forMs);
  onTestFinished(stop);
  return { type: way, url: way === 'websocket' ? url.replace('http:', 'ws:') : url, ...more } as Entry;
}

interface EatOutcome {
  readonly code?: string;
  readonly error?: TurnbuckleError;
  readonly text?: string;
}

/** The outcome of a call whose text has `length` characters. */
async function callEat(
  runtime: Runtime,
  name: string,
  { length = 0, ...options }: { length?: number; timeoutMs?: number; signal?: AbortSignal },
): Promise<EatOutcome> {
  try {
    const result = await runtime.callTool('deaf', 'eat', { name, text: 'x'.repeat(length) }, options);
    const [part] = result.content;
    return { text: part?.type === 'text' ? part.text : '' };
  } catch (thrown) {
    const error = thrown as TurnbuckleError;
    return { code: error.code, error };
  }
}

/** The memory in use after a garbage collection, in bytes. */
function held(): number {
  collectGarbage();
  const { heapUsed, external, arrayBuffers } = process.memoryUsage();
  return heapUsed + Math.max(external, arrayBuffers);
}

describe('a server that reads nothing', () => {
  it.each(WAYS.flatMap((way) => [true, false].map((expressLane) => ({ way, expressLane }))))(
    'keeps nothing of calls that timed out ($way, express lane: $expressLane)',
    async ({ way, expressLane }) => {
      await withRuntime({ servers: { deaf: await deaf(way) }, expressLane }, async (runtime) => {
        await callEat(runtime, 'first', { length: 2 * MB, timeoutMs: 100 });
        const before = held();
        for (let round = 0; round < 10; round += 1)
          await Promise.all(
            Array.from({ length: 5 }, (_, at) =>
              callEat(runtime, `${round} ${at}`, { length: 2 * MB, timeoutMs: 20 }),
            ),
          );
        // Some of it may still be in the output buffers, but far from all.
        await waitUntil(() => held() - before < 25 * MB, 10_000);
      });
    },
    120_000,
  );

  it.each(CHANNELS)(
    'is disconnected after a while, and its status says so (%s)',
    async (way) => {
      const limits = { maxUnreadMs: 300 };
      const servers = { deaf: await deaf(way) };
      await withRuntime({ servers, limits }, async (runtime) => {
        const calls = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'].map((name) =>
          callEat(runtime, name, { length: 2 * MB, timeoutMs: 30_000 }),
        );
        const isTold = (): boolean =>
          runtime
            .serverStatus('deaf')
            .recentErrors.some(({ message }) => message.includes('stopped reading'));
        await waitUntil(isTold, 30_000);
        await runtime.disconnect('deaf');
        for (const { code } of await Promise.all(calls)) expect(code).toBeDefined();
      });
    },
    90_000,
  );

  it.each(CHANNELS)(
    'has a limited outbox, in which large calls do not displace small ones (%s)',
    async (way) => {
      const limits = { maxUnsentBytes: 3 * MB };
      await withRuntime({ servers: { deaf: await deaf(way) }, limits }, async (runtime) => {
        const calls = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'].map((name) =>
          callEat(runtime, name, { length: 1 * MB, timeoutMs: 5_000 }),
        );
        const small = callEat(runtime, 'small', { timeoutMs: 5_000 });
        const refused = (await Promise.all(calls)).filter(({ code }) => code === 'OVERLOADED');
        expect(refused.length).toBeGreaterThanOrEqual(1);
        for (const { error } of refused)
          expect(error).toMatchObject({
            data: { sent: false },
            hint: expect.stringContaining('maxUnsentBytes'),
          });
        expect((await small).code).toBe('CALL_TIMEOUT');
      });
    },
    90_000,
  );
});

describe('a server that reads again after a while', () => {
  it.each(CHANNELS)(
    'gets every request that is still pending, in order, and nothing else (%s)',
    async (way) => {
      await withRuntime({ servers: { deaf: await deaf(way, '1500') } }, async (runtime) => {
        const length = 1 * MB;
        const names = Array.from({ length: 12 }, (_, at) => `n${at}`);
        const abort = new AbortController();
        const given = { signal: abort.signal, timeoutMs: 30_000 };
        // The first ones may have been sent already; the later ones have not.
        const calls = names.map((name, at) =>
          callEat(runtime, name, { length, ...(at >= 8 ? given : { timeoutMs: 30_000 }) }),
        );
        await new Promise((resolve) => setTimeout(resolve, 200));
        abort.abort();
        const last = callEat(runtime, 'last', { timeoutMs: 30_000 });
        const ends = await Promise.all(calls);
        expect(ends.slice(8).map(({ code }) => code)).toEqual(Array(4).fill('CALL_CANCELLED'));
        expect(ends.slice(0, 8).map(({ text }) => text?.split(' ').at(-1))).toEqual(names.slice(0, 8));
        expect((await last).text).toBe([...names.slice(0, 8), 'last'].join(' '));
      });
    },
    90_000,
  );
});

describe('the outbox', () => {
  const box = (): {
    outbox: Outbox;
    written: string[];
    stream: { unsent: number };
    stuck: TurnbuckleError[];
  } => {
    const written: string[] = [];
    const stuck: TurnbuckleError[] = [];
    const stream = { unsent: MB };
    const outbox = new Outbox({
      server: 'deaf',
      limits: { maxUnsentBytes: 100_000, maxUnreadMs: 60_000 },
      bufferedBytes: () => stream.unsent,
      write: (text) => written.push(text),
    });
    outbox.onStuck = (error) => stuck.push(error);
    onTestFinished(() => void outbox.close());
    return { outbox, written, stream, stuck };
  };

  it('is bounded for responses and notifications too: a server that keeps asking and never reads is disconnected', async () => {
    const { outbox, stuck } = box();
    for (let count = 0; count < 1_000; count += 1) await outbox.add('{"result":{}}', undefined);
    expect(stuck).toMatchObject([{ code: 'CONNECTION_LOST' }]);
  });

  it('sends messages in order as soon as there is room, without withdrawn ones', async () => {
    const { outbox, written, stream } = box();
    for (let id = 0; id < 5; id += 1) await outbox.add(`request ${id}`, id);
    await outbox.add('notice', undefined);
    expect([outbox.withdraw(3), outbox.withdraw(3), outbox.withdraw(9)]).toEqual([true, false, false]);
    outbox.onDrain();
    expect(written).toEqual([]);
    stream.unsent = 0;
    expect(outbox.isFree).toBe(false);
    outbox.onDrain();
    expect(written).toEqual(['request 0', 'request 1', 'request 2', 'request 4', 'notice']);
    expect(outbox.isFree).toBe(true);
  });

  it('returns at the end the requests that were never sent and can be repeated', async () => {
    const { outbox } = box();
    await outbox.add('request', 1);
    await outbox.add('notice', undefined);
    expect(outbox.close()).toEqual([1]);
  });
});
