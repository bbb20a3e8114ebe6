/** Waiting that ends early when the caller gives up. */
import { type CancelSignal, offAbort, onAbort } from './cancel-signal.js';
import { TurnbuckleError } from './errors.js';
import { timerDelay } from './resilience/timer-delay.js';

const cancelled = (): TurnbuckleError =>
  new TurnbuckleError('CALL_CANCELLED', 'The call was cancelled by the caller.');

/** The promise, or CALL_CANCELLED as soon as the signal says so. The work itself goes on for others. */
export function untilAborted<T>(work: Promise<T>, signal: CancelSignal | undefined): Promise<T> {
  if (signal === undefined) return work;
  if (signal.aborted) return Promise.reject(cancelled());
  return new Promise((resolve, reject) => {
    const giveUp = (): void => reject(cancelled());
    onAbort(signal, giveUp);
    work.then(resolve, reject).finally(() => offAbort(signal, giveUp));
  });
}

export function pause(ms: number, signal: CancelSignal | undefined): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const timed = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, timerDelay(ms));
  });
  return untilAborted(timed, signal).finally(() => clearTimeout(timer));
}
