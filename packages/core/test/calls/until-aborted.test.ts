import { expect, it } from 'vitest';
import { Cancellation } from '../../src/async/cancel-signal.js';
import { abortReason, untilAborted } from '../../src/async/until-aborted.js';

const never = (): Promise<never> => new Promise(() => {});

it('returns the result of the work, with a signal or without', async () => {
  expect(await untilAborted(async () => 1, undefined)).toBe(1);
  expect(await untilAborted(async () => 2, new AbortController().signal)).toBe(2);
});

it('rejects with CALL_CANCELLED, or with the reason of the signal', async () => {
  const cancellation = new Cancellation();
  const cancelled = untilAborted(never, cancellation);
  const reasoned = untilAborted(never, cancellation, abortReason);
  cancellation.cancel(new Error('enough'));
  await expect(cancelled).rejects.toMatchObject({ code: 'CALL_CANCELLED' });
  await expect(reasoned).rejects.toThrow('enough');
});

it('starts nothing if the signal is already aborted', async () => {
  let begun = 0;
  const begin = async (): Promise<void> => {
    begun += 1;
  };
  const signal = AbortSignal.abort(new Error('enough'));
  await expect(untilAborted(begin, signal)).rejects.toMatchObject({ code: 'CALL_CANCELLED' });
  await expect(untilAborted(begin, signal, abortReason)).rejects.toThrow('enough');
  expect(begun).toBe(0);
});

it('handles a failure of the work that comes after the abort', async () => {
  const abort = new AbortController();
  let reject = (_error: Error): void => {};
  const promise = new Promise<never>((_resolve, fail) => {
    reject = fail;
  });
  const waiting = untilAborted(() => promise, abort.signal, abortReason);
  abort.abort(new Error('enough'));
  reject(new Error('too late'));
  await expect(waiting).rejects.toThrow('enough');
});
