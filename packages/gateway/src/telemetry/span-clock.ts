/** Wall-clock time with fractions of milliseconds: spans of one call differ by less than one. */
const MAX_DRIFT_MS = 50;

export class SpanClock {
  readonly #now: () => number;
  #offset: number;

  constructor(now: () => number = Date.now) {
    this.#now = now;
    this.#offset = now() - performance.now();
  }

  now(): number {
    const exact = this.#offset + performance.now();
    const wall = this.#now();
    if (Math.abs(exact - wall) <= MAX_DRIFT_MS) return exact;
    // Someone set the clock.
    this.#offset = wall - performance.now();
    return wall;
  }
}
