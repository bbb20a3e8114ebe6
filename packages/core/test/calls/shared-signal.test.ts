/** Hosts share one AbortSignal between many calls. Node prints a warning for more than ten listeners on one. */
import { getEventListeners } from 'node:events';
import { fixture, startFixture, waitUntil } from '@turnbuckle/testing';
import { createRuntime, type ServerInput } from 'turnbuckle';
import { Cancellation, offAbort, onAbort } from 'turnbuckle/host';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';

const warnings: string[] = [];
const keep = ({ name, message }: Error): void => void warnings.push(`${name}: ${message}`);
beforeEach(() => {
  warnings.length = 0;
  process.on('warning', keep);
});
afterEach(() => void process.off('warning', keep));

const CALLS = 40;

async function serverOver(transport: string): Promise<ServerInput> {
  if (transport === 'stdio') return fixture('echo');
  const { url, stop } = await startFixture('echo', { transport: transport as 'http' });
  onTestFinished(async () => void (await stop()));
  return { type: transport as 'http', url };
}

const each = ['stdio', 'http', 'sse', 'websocket'].flatMap((transport) =>
  [true, false].map((expressLane) => ({ transport, expressLane })),
);

describe.each(each)('over $transport, express lane $expressLane', ({ transport, expressLane }) => {
  const open = async (maxInFlight: number) => {
    const server = { ...(await serverOver(transport)), maxInFlight } as ServerInput;
    const runtime = await createRuntime({ servers: { one: server, two: server }, expressLane });
    onTestFinished(() => runtime.close());
    await runtime.connectAll();
    return runtime;
  };

  it('calls, reads and lists that share a signal cause no warning, and leave no listener on it', async () => {
    const runtime = await open(4);
    const { signal } = new AbortController();
    const work = Array.from({ length: CALLS }, (_, index) => [
      runtime.callTool(index % 2 === 0 ? 'one' : 'two', 'echo', { text: 'hi' }, { signal }),
      runtime.readResource('one', 'no-such://thing', { signal }).catch(() => {}),
    ]);
    await Promise.all(work.flat());
    expect(warnings).toEqual([]);
    await waitUntil(() => getEventListeners(signal, 'abort').length === 0);
  });

  it('all of them end when the signal aborts', async () => {
    const runtime = await open(CALLS + 1);
    const abort = new AbortController();
    const calls = Array.from({ length: CALLS }, () =>
      runtime
        .callTool('one', 'sleep', { ms: 60_000 }, { signal: abort.signal })
        .catch((error: { code?: string }) => error.code),
    );
    // Queued after the others: when it is answered, they have been sent.
    await runtime.callTool('one', 'echo', { text: 'hi' });
    abort.abort();
    expect(new Set(await Promise.all(calls))).toEqual(new Set(['CALL_CANCELLED']));
    expect(warnings).toEqual([]);
  });
});

it('calls every listener once, and removed ones not at all', () => {
  const abort = new AbortController();
  const told: number[] = [];
  const listeners = Array.from({ length: CALLS }, (_, index) => () => void told.push(index));
  for (const listener of listeners) onAbort(abort.signal, listener);
  for (const listener of listeners.slice(0, 10)) offAbort(abort.signal, listener);
  expect(getEventListeners(abort.signal, 'abort')).toHaveLength(1);
  abort.abort();
  abort.abort();
  expect(told).toEqual(listeners.map((_, index) => index).slice(10));
  expect(getEventListeners(abort.signal, 'abort')).toHaveLength(0);
  expect(() => offAbort(abort.signal, () => {})).not.toThrow();
  expect(() => onAbort(undefined, () => {})).not.toThrow();
});

it('does not forget a signal that had no listeners for a while', () => {
  const abort = new AbortController();
  let told = 0;
  const listener = {
    handleEvent: () => {
      told += 1;
    },
  };
  for (let count = 0; count < 3; count += 1) {
    onAbort(abort.signal, listener);
    offAbort(abort.signal, listener);
  }
  expect(getEventListeners(abort.signal, 'abort')).toHaveLength(0);
  onAbort(abort.signal, listener);
  abort.abort();
  expect(told).toBe(1);
});

it('calls a listener at once if the signal has aborted before, so that nobody has to check', () => {
  const cancellation = new Cancellation();
  cancellation.cancel();
  const aborted = AbortSignal.abort();
  for (const signal of [aborted, cancellation]) {
    let told = 0;
    const listener = (): void => {
      told += 1;
    };
    onAbort(signal, listener);
    onAbort(signal, { handleEvent: listener });
    expect(told).toBe(2);
    offAbort(signal, listener);
  }
  expect(getEventListeners(aborted, 'abort')).toHaveLength(0);
});
