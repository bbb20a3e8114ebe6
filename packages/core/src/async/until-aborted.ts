/** Waiting that ends early when the caller gives up. */
import { type CancelSignal, offAbort, onAbort } from './cancel-signal.js';
import { TurnbuckleError } from './errors.js';
import { timerDelay } from './resilience/timer-delay.js';

const cancelled = (): TurnbuckleError =>
  new TurnbuckleError('CALL_CANCELLED', 'The call was cancelled by the caller.');

/** Nothing is begun for who has given up already. */
export function throwIfCancelled(signal: CancelSignal | undefined): void {
  if (signal?.aborted === true) throw cancelled();
}

/**
 * What comes of the work, or CALL_CANCELLED as soon as the signal says so. Work that has begun goes on for others, and how
 * it ends is never left without anybody who takes it: a promise like that would end the process.
 */
export async function untilAborted<T>(begin: () => Promise<T>, signal: CancelSignal | undefined): Promise<T> {
  throwIfCancelled(signal);
  if (signal === undefined) return begin();
  return new Promise((resolve, reject) => {
    const giveUp = (): void => reject(cancelled());
    onAbort(signal, giveUp);
    begin()
      .then(resolve, reject)
      .finally(() => offAbort(signal, giveUp));
  });
}

export function pause(ms: number, signal: CancelSignal | undefined): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const timed = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, timerDelay(ms));
  });
  return untilAborted(() => timed, signal).finally(() => clearTimeout(timer));
}
