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
    for (const listener of listeners) tell(listener);
  }
}

/** All that listens to one AbortSignal: one listener on it, however many calls share it. */
class Fan {
  readonly #listeners = new Set<CancelListener>();

  add(listener: CancelListener, signal: AbortSignal): void {
    if (this.#listeners.size === 0) signal.addEventListener('abort', this, { once: true });
    this.#listeners.add(listener);
  }

  remove(listener: CancelListener, signal: AbortSignal): void {
    if (this.#listeners.delete(listener) && this.#listeners.size === 0)
      signal.removeEventListener('abort', this);
  }

  handleEvent(): void {
    const listeners = [...this.#listeners];
    this.#listeners.clear();
    for (const listener of listeners) tell(listener);
  }
}

const fans = new WeakMap<AbortSignal, Fan>();

/**
 * Tells the listener once when the signal is given. Use it for every signal that somebody else made: of more than ten
 * listeners on an AbortSignal Node warns on the terminal, and one signal for many calls is quite usual.
 */
export function onAbort(signal: CancelSignal | undefined, listener: CancelListener): void {
  if (!(signal instanceof AbortSignal)) return signal?.addEventListener('abort', listener, { once: true });
  const fan = fans.get(signal) ?? new Fan();
  fans.set(signal, fan);
  fan.add(listener, signal);
}

/** Takes back what `onAbort` did. */
export function offAbort(signal: CancelSignal | undefined, listener: CancelListener): void {
  if (signal instanceof AbortSignal) fans.get(signal)?.remove(listener, signal);
  else signal?.removeEventListener('abort', listener);
}

function tell(listener: CancelListener): void {
  if (typeof listener === 'function') listener();
  else listener.handleEvent();
}

/** For those who need the real thing. */
export function toAbortSignal(signal: CancelSignal): AbortSignal {
  if (signal instanceof AbortSignal) return signal;
  const abort = new AbortController();
  if (signal.aborted) abort.abort(signal.reason);
  else signal.addEventListener('abort', () => abort.abort(signal.reason));
  return abort.signal;
}
