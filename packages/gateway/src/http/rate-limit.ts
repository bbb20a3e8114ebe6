/** So many requests a second for each token, with room for a burst. */

export class RateLimit {
  readonly #perSecond: number;
  readonly #burst: number;
  readonly #now: () => number;
  readonly #buckets = new Map<string, { level: number; at: number }>();

  constructor(perSecond: number, burst: number, now: () => number) {
    this.#perSecond = perSecond;
    this.#burst = burst;
    this.#now = now;
  }

  /** Zero when it may go on, else how long to wait. */
  take(id: string): number {
    const now = this.#now();
    const bucket = this.#buckets.get(id) ?? { level: this.#burst, at: now };
    this.#buckets.set(id, bucket);
    bucket.level = Math.min(this.#burst, bucket.level + ((now - bucket.at) / 1_000) * this.#perSecond);
    bucket.at = now;
    if (bucket.level >= 1) {
      bucket.level -= 1;
      return 0;
    }
    return ((1 - bucket.level) / this.#perSecond) * 1_000;
  }

  /** Forgets who has been quiet for long enough to have a full bucket. */
  sweep(): void {
    const fullAfterMs = (this.#burst / this.#perSecond) * 1_000;
    const now = this.#now();
    for (const [id, { at }] of this.#buckets) if (now - at > fullAfterMs) this.#buckets.delete(id);
  }
}
