/**
 * A circuit breaker: after `failures` in a row it refuses at once for `openMs` x (times opened), then lets one probe
 * through. What only one caller met with does not count for all: it opens when a second one met with it too, or when
 * the server itself is silent. Time is handed in, so that its behaviour is a table.
 */

export interface BreakerOptions {
  readonly failures: number;
  readonly openMs: number;
  readonly maxOpenMs: number;
}

export const DEFAULT_BREAKER: BreakerOptions = { failures: 5, openMs: 30_000, maxOpenMs: 300_000 };

export type BreakerState = 'closed' | 'open' | 'half-open';

export class Breaker {
  readonly #options: BreakerOptions;
  #state: BreakerState = 'closed';
  #failuresInARow = 0;
  /** Who met with them: one, until it is beyond doubt. */
  #caller: string | undefined;
  #isSure = false;
  #timesOpened = 0;
  #opensUntil = 0;
  #probing = false;

  constructor(options: BreakerOptions = DEFAULT_BREAKER) {
    this.#options = options;
  }

  get state(): BreakerState {
    return this.#state;
  }

  /** Milliseconds until a probe is allowed; 0 when a call may go now. Takes the probe's place if it is one. */
  admit(now: number): number {
    if (this.#state === 'closed') return 0;
    if (now < this.#opensUntil) return this.#opensUntil - now;
    if (this.#probing) return this.#options.openMs;
    this.#state = 'half-open';
    this.#probing = true;
    return 0;
  }

  succeed(): void {
    this.#begin();
    if (this.#state === 'closed') return;
    this.#state = 'closed';
    this.#timesOpened = 0;
    this.#probing = false;
  }

  /** The server itself failed: its connection was lost, or did not come about. */
  fail(now: number): void {
    // Calls that were let through before it opened say nothing new.
    if (this.#state === 'open') return;
    this.#isSure = true;
    this.#count(now);
  }

  /** A call of this caller failed, which may be the fault of what was called. */
  failFor(caller: string, now: number): void {
    if (this.#state === 'open') return;
    this.#caller ??= caller;
    if (this.#caller !== caller) this.#isSure = true;
    this.#count(now);
  }

  /** The server gave no sign of life when it was asked for one: what failed before was its own fault. */
  confirm(now: number): void {
    if (this.#state === 'open' || this.#failuresInARow === 0) return;
    this.#isSure = true;
    this.#openIfSure(now);
  }

  /** The admitted call ended without telling anything about the server (cancelled, refused by us). */
  abstain(): void {
    this.#probing = false;
  }

  #count(now: number): void {
    this.#failuresInARow += 1;
    this.#probing = false;
    this.#openIfSure(now);
  }

  #openIfSure(now: number): void {
    if (!this.#isSure) return;
    if (this.#state === 'closed' && this.#failuresInARow < this.#options.failures) return;
    this.#begin();
    this.#timesOpened += 1;
    this.#state = 'open';
    this.#opensUntil = now + Math.min(this.#options.openMs * this.#timesOpened, this.#options.maxOpenMs);
  }

  #begin(): void {
    this.#failuresInARow = 0;
    this.#caller = undefined;
    this.#isSure = false;
  }
}
