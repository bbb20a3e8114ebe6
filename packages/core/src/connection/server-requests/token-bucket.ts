/** A rate: so many at once, and so many more a minute. Pure; the time is handed in. */

export interface Rate {
  readonly perMinute: number;
  readonly burst: number;
}

export class TokenBucket {
  readonly #rate: Rate;
  #left: number;
  #at: number;

  constructor(rate: Rate, now: number) {
    this.#rate = rate;
    this.#left = rate.burst;
    this.#at = now;
  }

  /** True when one more fits now. */
  take(now: number): boolean {
    // A clock that was set back gives nothing, and takes nothing.
    const minutes = Math.max(now - this.#at, 0) / 60_000;
    this.#left = Math.min(this.#rate.burst, this.#left + minutes * this.#rate.perMinute);
    this.#at = now;
    if (this.#left < 1 - 1e-9) return false;
    this.#left -= 1;
    return true;
  }
}
