/** The end of an identity: its token was revoked or has expired. Everything it started ends with it. */
import { TurnbuckleError } from 'turnbuckle';
import type { CancelSignal } from 'turnbuckle/host';
import { timerDelay } from 'turnbuckle/host';
import type { Identity } from './identity.js';

type CancelListener = Parameters<CancelSignal['addEventListener']>[1];

/** An abort signal for very many listeners: adding and removing one is O(1). */
export class IdentityEnd implements CancelSignal {
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

  /** Notifies all listeners, once. */
  end(): void {
    if (this.aborted) return;
    this.#reason = new DOMException('The token was revoked or has expired', 'AbortError');
    const listeners = [...this.#listeners];
    this.#listeners.clear();
    for (const listener of listeners) {
      if (typeof listener === 'function') listener();
      else listener.handleEvent();
    }
  }
}

/** Clock tolerance: a token of an issuer is accepted this long after it expires, and stays valid for what it started. */
export const CLOCK_TOLERANCE_MS = 5_000;

/** Whether the token was revoked or has expired since it was authenticated. */
export function isTokenEnded(
  { ended, expiresAt }: Pick<Identity, 'ended' | 'expiresAt'>,
  now = Date.now,
): boolean {
  return ended?.aborted === true || (expiresAt !== undefined && now() >= expiresAt + CLOCK_TOLERANCE_MS);
}

/**
 * TOKEN_REQUIRED once the token was revoked or has expired. Call it after every await between authentication and the
 * effect of a request: after a revocation was confirmed, the token must have no effect.
 */
export function requireActiveToken(identity: Pick<Identity, 'ended' | 'expiresAt'> | undefined): void {
  if (identity !== undefined && isTokenEnded(identity)) throw tokenEnded();
}

export const tokenEnded = (): TurnbuckleError =>
  new TurnbuckleError('TOKEN_REQUIRED', 'This token was revoked or has expired.', {
    hint: 'Nothing was done. Send the request again with another token.',
  });

/**
 * For work without an end, such as a stream: calls `end` once, as soon as the token it was started with is revoked or
 * has expired (immediately if it already has). Returns a function that stops waiting.
 */
export function onIdentityEnd(
  { ended, expiresAt }: Identity,
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
    else if (left < Number.POSITIVE_INFINITY) timer = setTimeout(wait, timerDelay(left)).unref();
  };
  ended?.addEventListener('abort', finish);
  if (ended?.aborted === true) finish();
  else wait();
  return stop;
}
