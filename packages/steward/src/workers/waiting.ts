/** Waiting in a worker process: for steps that were interrupted, and for a busy database. */
import { setTimeout as pause } from 'node:timers/promises';
import { TurnbuckleError } from 'turnbuckle';

const BUSY_TRIES = 5;
const BUSY_MS = 100;

/** The result of the work; undefined if it has not ended some time after the signal was aborted. */
export function settleSoon<T>(
  work: Promise<T>,
  signal: AbortSignal,
  graceMs: number,
): Promise<T | undefined> {
  return new Promise((resolve) => {
    let timer: NodeJS.Timeout | undefined;
    const onAbort = (): void => {
      timer = setTimeout(() => resolve(undefined), graceMs);
    };
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
    void work.then((value) => {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
      resolve(value);
    });
  });
}

/** Repeats what the database refused, such as when another process holds its lock for long. */
export async function retryWhileBusy<T>(store: () => T): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return store();
    } catch (error) {
      if (error instanceof TurnbuckleError || attempt >= BUSY_TRIES) throw error;
      await pause(BUSY_MS * attempt);
    }
  }
}
