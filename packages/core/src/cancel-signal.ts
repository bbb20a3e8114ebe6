/**
 * What a call listens to for its end: an AbortSignal, or something lighter that can do the same. Making an
 * AbortSignal for every call costs more than the rest of it: its parts outlive many collections of the young.
 */

/** A function, or an object that makes do without one of its own. */
export type CancelListener = (() => void) | { handleEvent(): void };

export interface CancelSignal {
  readonly aborted: boolean;
  readonly reason: unknown;
  addEventListener(type: 'abort', listener: CancelListener, options?: { readonly once?: boolean }): void;
  removeEventListener(type: 'abort', listener: CancelListener): void;
}

/** A signal and the way to give it. Each listener is told once. */
export class Cancellation implements CancelSignal {
  #listeners: CancelListener[] = [];
  #reason: unknown;
  #aborted = false;

  get aborted(): boolean {
    return this.#aborted;
  }

  get reason(): unknown {
    return this.#reason;
  }

  addEventListener(_type: 'abort', listener: CancelListener): void {
    if (!this.#aborted) this.#listeners.push(listener);
  }

  removeEventListener(_type: 'abort', listener: CancelListener): void {
    const at = this.#listeners.indexOf(listener);
    if (at !== -1) this.#listeners.splice(at, 1);
  }

  cancel(reason: unknown = new DOMException('The call was cancelled', 'AbortError')): void {
    if (this.#aborted) return;
    this.#aborted = true;
    this.#reason = reason;
    const listeners = this.#listeners;
    this.#listeners = [];
    for (const listener of listeners) {
      if (typeof listener === 'function') listener();
      else listener.handleEvent();
    }
  }
}

/** For those who need the real thing. */
export function toAbortSignal(signal: CancelSignal): AbortSignal {
  if (signal instanceof AbortSignal) return signal;
  const abort = new AbortController();
  if (signal.aborted) abort.abort(signal.reason);
  else signal.addEventListener('abort', () => abort.abort(signal.reason));
  return abort.signal;
}
