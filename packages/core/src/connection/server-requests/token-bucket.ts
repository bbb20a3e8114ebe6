/** A token bucket: a burst, and a refill per minute. Pure; the time is passed in, from a monotonic clock. */

export interface Rate {
  readonly perMinute: number;
  readonly burst: number;
}

export class TokenBucket {
  readonly #rate: Rate;
  #tokens: number;
  #updatedAt: number;

  constructor(rate: Rate, now: number) {
    this.#rate = rate;
    this.#tokens = rate.burst;
    this.#updatedAt = now;
  }

  /** True if one more is allowed now. */
  tryTake(now: number): boolean {
    // A clock that was set back neither adds nor removes tokens.
    const minutes = Math.max(now - this.#updatedAt, 0) / 60_000;
    this.#tokens = Math.min(this.#rate.burst, this.#tokens + minutes * this.#rate.perMinute);
    this.#updatedAt = now;
    if (this.#tokens < 1 - 1e-9) return false;
    this.#tokens -= 1;
    return true;
  }
}
