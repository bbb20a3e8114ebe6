/** Callers that ask for the same at the same time share one piece of work; it is aborted when all of them have left. */
import { abortReason, untilAborted } from 'turnbuckle/host';

export type SharedWork<Result> = (
  begin: (signal: AbortSignal) => Promise<Result>,
  signal: AbortSignal | undefined,
) => Promise<Result>;

/** Each caller gets the result, or the reason of its own signal. */
export function createSharedWork<Result>(): SharedWork<Result> {
  let current:
    | { readonly result: Promise<Result>; readonly abort: AbortController; waiting: number }
    | undefined;
  return async (begin, signal) => {
    signal?.throwIfAborted();
    if (current === undefined || current.abort.signal.aborted) {
      const abort = new AbortController();
      const started = { result: begin(abort.signal), abort, waiting: 0 };
      current = started;
      const forget = (): void => {
        if (current === started) current = undefined;
      };
      started.result.then(forget, forget);
    }
    const work = current;
    work.waiting += 1;
    try {
      return await untilAborted(() => work.result, signal, abortReason);
    } finally {
      work.waiting -= 1;
      if (work.waiting === 0) work.abort.abort(signal?.reason);
    }
  };
}
