/**
 * A circuit breaker: after `failures` in a row it rejects immediately for `openMs` x (times opened), then admits one
 * probe. Failures of only one caller do not affect the others: it opens when a second caller fails too, or when the
 * server itself is silent. Time is passed in, so that its behaviour is a table.
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
  /** The callers that failed: one, until it is certain that the server is at fault. */
  #caller: string | undefined;
  #isConfirmed = false;
  #timesOpened = 0;
  #opensUntil = 0;
  #probing = false;

  constructor(options: BreakerOptions = DEFAULT_BREAKER) {
    this.#options = options;
  }

  get state(): BreakerState {
    return this.#state;
  }

  /** Milliseconds until a probe is allowed; 0 if a call may go now. Reserves the probe if this call is one. */
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

  /** The server itself failed: its connection was lost, or could not be opened. */
  fail(now: number): void {
    // Calls that were admitted before it opened carry no new information.
    if (this.#state === 'open') return;
    this.#isConfirmed = true;
    this.#count(now);
  }

  /** A call of this caller failed, possibly because of the tool that was called. */
  failFor(caller: string, now: number): void {
    if (this.#state === 'open') return;
    this.#caller ??= caller;
    if (this.#caller !== caller) this.#isConfirmed = true;
    this.#count(now);
  }

  /** The server did not respond to a health check: the earlier failures were its own fault. */
  confirm(now: number): void {
    if (this.#state === 'open' || this.#failuresInARow === 0) return;
    this.#isConfirmed = true;
    this.#openIfSure(now);
  }

  /** The admitted call ended without information about the server (cancelled, or rejected by us). */
  abstain(): void {
    this.#probing = false;
  }

  #count(now: number): void {
    this.#failuresInARow += 1;
    this.#probing = false;
    this.#openIfSure(now);
  }

  #openIfSure(now: number): void {
    if (!this.#isConfirmed) return;
    if (this.#state === 'closed' && this.#failuresInARow < this.#options.failures) return;
    this.#begin();
    this.#timesOpened += 1;
    this.#state = 'open';
    this.#opensUntil = now + Math.min(this.#options.openMs * this.#timesOpened, this.#options.maxOpenMs);
  }

  #begin(): void {
    this.#failuresInARow = 0;
    this.#caller = undefined;
    this.#isConfirmed = false;
  }
}
