import { offAbort, onAbort } from '../async/cancel-signal.js';
import { timerDelay } from '../async/timer-delay.js';
import { abortReason, untilAborted } from '../async/until-aborted.js';

/** One deadline for a whole request, including body and redirects, combined with the caller's signal. */
export class Deadline {
  readonly #controller = new AbortController();
  readonly #timer: NodeJS.Timeout;
  readonly #caller: AbortSignal | undefined;
  readonly #onCallerAbort = (): void => this.#controller.abort(this.#caller?.reason);

  constructor(timeoutMs: number, onTimeout: () => Error, caller?: AbortSignal) {
    this.#caller = caller;
    this.#timer = setTimeout(() => this.#controller.abort(onTimeout()), timerDelay(timeoutMs));
    onAbort(caller, this.#onCallerAbort);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** The result of the work, or the abort reason if that comes first; for work that cannot be stopped once started. */
  race<T>(begin: () => Promise<T>): Promise<T> {
    return untilAborted(begin, this.signal, abortReason);
  }

  stop(): void {
    clearTimeout(this.#timer);
    offAbort(this.#caller, this.#onCallerAbort);
  }
}
