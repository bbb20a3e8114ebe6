/** The end of a visitor: its token is revoked, or has expired. What it began ends with it. */
import { type CancelSignal, TurnbuckleError } from 'turnbuckle';
import type { Visitor } from './visitor.js';

type CancelListener = Parameters<CancelSignal['addEventListener']>[1];

/** A signal for very many who listen and stop listening: both cost the same, however many there are. */
export class VisitorEnd implements CancelSignal {
  readonly #listeners = new Set<CancelListener>();
  #reason: unknown;

  get aborted(): boolean {
    return this.#reason !== undefined;
  }

  get reason(): unknown {
    return this.#reason;
  }

  addEventListener(_type: 'abort', listener: CancelListener): void {
    if (!this.aborted) this.#listeners.add(listener);
  }

  removeEventListener(_type: 'abort', listener: CancelListener): void {
    this.#listeners.delete(listener);
  }

  /** Tells everybody, once. */
  end(): void {
    if (this.aborted) return;
    this.#reason = new DOMException('The token is not good any more', 'AbortError');
    const listeners = [...this.#listeners];
    this.#listeners.clear();
    for (const listener of listeners) {
      if (typeof listener === 'function') listener();
      else listener.handleEvent();
    }
  }
}

/** Clocks differ: for so long after its end the doors take a token of an issuer, and what they let in is not refused later. */
export const CLOCK_TOLERANCE_MS = 5_000;

/** Whether the token was revoked or has expired since it was let in. */
export function isOver({ ended, expiresAt }: Pick<Visitor, 'ended' | 'expiresAt'>, now = Date.now): boolean {
  return ended?.aborted === true || (expiresAt !== undefined && now() >= expiresAt + CLOCK_TOLERANCE_MS);
}

/**
 * TOKEN_REQUIRED once the token was revoked or has expired. To be called after every wait between the door and what a
 * request does: whoever was told that a token is revoked relies on it.
 */
export function requireGood(visitor: Pick<Visitor, 'ended' | 'expiresAt'> | undefined): void {
  if (visitor !== undefined && isOver(visitor)) throw tokenGone();
}

export const tokenGone = (): TurnbuckleError =>
  new TurnbuckleError('TOKEN_REQUIRED', 'This token has expired or was revoked.', {
    hint: 'Nothing was done. Send it again with another token.',
  });

/** Timers beyond this fire at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/**
 * For what has no end of its own, such as a stream: `end` is called once, as soon as the token that it was begun with
 * is revoked or has expired, at once if it is by now. Returns the function that stops waiting for that.
 */
export function onVisitorEnd(
  { ended, expiresAt }: Visitor,
  end: () => void,
  now: () => number = Date.now,
): () => void {
  let timer: NodeJS.Timeout | undefined;
  const stop = (): void => {
    clearTimeout(timer);
    ended?.removeEventListener('abort', finish);
  };
  const finish = (): void => {
    stop();
    end();
  };
  const wait = (): void => {
    const left = (expiresAt ?? Number.POSITIVE_INFINITY) - now();
    if (left <= 0) finish();
    else if (left < Number.POSITIVE_INFINITY) timer = setTimeout(wait, Math.min(left, MAX_TIMER_MS)).unref();
  };
  ended?.addEventListener('abort', finish);
  if (ended?.aborted === true) finish();
  else wait();
  return stop;
}
