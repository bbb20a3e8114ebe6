/**
 * A circuit breaker: after `failures` in a row it refuses at once for `openMs` x (times opened), then
 * lets one probe through. Time is handed in, so that its behaviour is a table.
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
    this.#failuresInARow = 0;
    if (this.#state === 'closed') return;
    this.#state = 'closed';
    this.#timesOpened = 0;
    this.#probing = false;
  }

  fail(now: number): void {
    // Calls that were let through before it opened say nothing new.
    if (this.#state === 'open') return;
    this.#failuresInARow += 1;
    this.#probing = false;
    if (this.#state === 'half-open' || this.#failuresInARow >= this.#options.failures) this.#open(now);
  }

  /** The admitted call ended without telling anything about the server (cancelled, refused by us). */
  abstain(): void {
    this.#probing = false;
  }

  #open(now: number): void {
    this.#timesOpened += 1;
    this.#state = 'open';
    this.#failuresInARow = 0;
    this.#opensUntil = now + Math.min(this.#options.openMs * this.#timesOpened, this.#options.maxOpenMs);
  }
}
