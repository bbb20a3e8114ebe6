/**
 * Cancellation of a call: an AbortSignal, or a lighter object with the same interface. Creating an AbortSignal for
 * every call costs more than the rest of the call: its parts survive many minor GCs (scavenges).
 */

/** A function, or an object, which avoids allocating a closure. */
export type CancelListener = (() => void) | { handleEvent(): void };

export interface CancelSignal {
  readonly aborted: boolean;
  readonly reason: unknown;
  addEventListener(type: 'abort', listener: CancelListener, options?: { readonly once?: boolean }): void;
  removeEventListener(type: 'abort', listener: CancelListener): void;
}

/** A signal and its trigger. Each listener is called once. */
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
    for (const listener of listeners) notify(listener);
  }
}

/** All listeners of one AbortSignal: a single real listener, however many calls share the signal. */
class AbortFanout {
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
    for (const listener of listeners) notify(listener);
  }
}

const fanouts = new WeakMap<AbortSignal, AbortFanout>();

/**
 * Calls the listener once when the signal aborts, and at once if it has aborted before. Use it for every signal that
 * came from outside: Node warns about more than ten listeners on an AbortSignal, and many calls often share one signal.
 */
export function onAbort(signal: CancelSignal | undefined, listener: CancelListener): void {
  if (signal === undefined) return;
  if (signal.aborted) return notify(listener);
  if (!(signal instanceof AbortSignal)) return signal.addEventListener('abort', listener, { once: true });
  const fan = fanouts.get(signal) ?? new AbortFanout();
  fanouts.set(signal, fan);
  fan.add(listener, signal);
}

/** Undoes `onAbort`. */
export function offAbort(signal: CancelSignal | undefined, listener: CancelListener): void {
  if (signal instanceof AbortSignal) fanouts.get(signal)?.remove(listener, signal);
  else signal?.removeEventListener('abort', listener);
}

function notify(listener: CancelListener): void {
  if (typeof listener === 'function') listener();
  else listener.handleEvent();
}

/** For APIs that need a real AbortSignal. */
export function toAbortSignal(signal: CancelSignal): AbortSignal {
  if (signal instanceof AbortSignal) return signal;
  const abort = new AbortController();
  if (signal.aborted) abort.abort(signal.reason);
  else signal.addEventListener('abort', () => abort.abort(signal.reason));
  return abort.signal;
}
