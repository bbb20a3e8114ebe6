/** Waiting that ends early when the caller cancels. */

import { TurnbuckleError } from '../errors.js';
import { type CancelSignal, offAbort, onAbort } from './cancel-signal.js';
import { timerDelay } from './timer-delay.js';

const cancelled = (): TurnbuckleError =>
  new TurnbuckleError('CALL_CANCELLED', 'The call was cancelled by the caller.');

/** Throws CALL_CANCELLED if the signal has already aborted. */
export function throwIfCancelled(signal: CancelSignal | undefined): void {
  if (signal?.aborted === true) throw cancelled();
}

/** For `untilAborted`: rejects with the signal's own reason. */
export const abortReason = ({ reason }: CancelSignal): unknown => reason;

/**
 * The result of the work, or an error as soon as the signal is aborted: CALL_CANCELLED unless `toError` makes another.
 * Work that has begun continues; how it ends is always handled, since an unhandled rejection would end the process.
 */
export async function untilAborted<T>(
  begin: () => Promise<T>,
  signal: CancelSignal | undefined,
  toError: (signal: CancelSignal) => unknown = cancelled,
): Promise<T> {
  if (signal === undefined) return begin();
  if (signal.aborted) throw toError(signal);
  return new Promise((resolve, reject) => {
    const giveUp = (): void => reject(toError(signal));
    onAbort(signal, giveUp);
    begin()
      .then(resolve, reject)
      .finally(() => offAbort(signal, giveUp));
  });
}

/** Resolves after the time, or rejects as `untilAborted` does. */
export function pause(
  ms: number,
  signal: CancelSignal | undefined,
  toError?: (signal: CancelSignal) => unknown,
): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const timed = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, timerDelay(ms));
  });
  return untilAborted(() => timed, signal, toError).finally(() => clearTimeout(timer));
}
