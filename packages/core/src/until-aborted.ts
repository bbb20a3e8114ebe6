/** Waiting that ends early when the caller gives up. */
import type { CancelSignal } from './cancel-signal.js';
import { TurnbuckleError } from './errors.js';

const cancelled = (): TurnbuckleError =>
  new TurnbuckleError('CALL_CANCELLED', 'The call was cancelled by the caller.');

/** The promise, or CALL_CANCELLED as soon as the signal says so. The work itself goes on for others. */
export function untilAborted<T>(work: Promise<T>, signal: CancelSignal | undefined): Promise<T> {
  if (signal === undefined) return work;
  if (signal.aborted) return Promise.reject(cancelled());
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(cancelled());
    signal.addEventListener('abort', onAbort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}

export function pause(ms: number, signal: CancelSignal | undefined): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const timed = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  return untilAborted(timed, signal).finally(() => clearTimeout(timer));
}
