import { offAbort, onAbort } from '../cancel-signal.js';

/** One clock for a whole request, body and redirects included, joined with the caller's own signal. */
const MAX_TIMER_MS = 2 ** 31 - 1;

export class Deadline {
  readonly #controller = new AbortController();
  readonly #timer: NodeJS.Timeout;
  readonly #caller: AbortSignal | undefined;
  readonly #onCallerAbort = (): void => this.#controller.abort(this.#caller?.reason);

  constructor(timeoutMs: number, onTimeout: () => Error, caller?: AbortSignal) {
    this.#caller = caller;
    this.#timer = setTimeout(() => this.#controller.abort(onTimeout()), Math.min(timeoutMs, MAX_TIMER_MS));
    if (caller?.aborted === true) this.#onCallerAbort();
    else onAbort(caller, this.#onCallerAbort);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** The work's result, or the reason of the end if that comes first; for work that cannot be stopped once it has begun. */
  async race<T>(begin: () => Promise<T>): Promise<T> {
    const { signal } = this;
    signal.throwIfAborted();
    let onAbort = (): void => {};
    const ended = new Promise<never>((_resolve, reject) => {
      onAbort = () => reject(signal.reason);
      signal.addEventListener('abort', onAbort, { once: true });
    });
    try {
      return await Promise.race([begin(), ended]);
    } finally {
      signal.removeEventListener('abort', onAbort);
    }
  }

  stop(): void {
    clearTimeout(this.#timer);
    offAbort(this.#caller, this.#onCallerAbort);
  }
}
