/** A token bucket for each id: a rate per second, with a burst. */

export interface Rate {
  readonly perSecond: number;
  readonly burst: number;
}

interface Bucket {
  level: number;
  at: number;
}

/** With more ids than this, the oldest ones are forgotten. */
const MAX_IDS = 10_000;

export class RateLimit {
  readonly #rate: Rate;
  readonly #now: () => number;
  readonly #buckets = new Map<string, Bucket>();

  /** `now` in milliseconds, from a monotonic clock. */
  constructor(rate: Rate, now: () => number = () => performance.now()) {
    this.#rate = rate;
    this.#now = now;
  }

  /** Zero if it may proceed, otherwise the milliseconds to wait. */
  take(id: string): number {
    const { perSecond, burst } = this.#rate;
    const now = this.#now();
    const bucket = this.#buckets.get(id) ?? this.#add(id, now);
    bucket.level = Math.min(burst, bucket.level + ((now - bucket.at) / 1_000) * perSecond);
    bucket.at = now;
    if (bucket.level < 1) return ((1 - bucket.level) / perSecond) * 1_000;
    bucket.level -= 1;
    return 0;
  }

  /** Returns what was taken. */
  refund(id: string): void {
    const bucket = this.#buckets.get(id);
    if (bucket !== undefined) bucket.level = Math.min(this.#rate.burst, bucket.level + 1);
  }

  get size(): number {
    return this.#buckets.size;
  }

  #add(id: string, now: number): Bucket {
    if (this.#buckets.size >= MAX_IDS) this.#forget(now);
    const bucket = { level: this.#rate.burst, at: now };
    this.#buckets.set(id, bucket);
    return bucket;
  }

  /** Removes ids whose bucket is full again; if these are few, the oldest ones. */
  #forget(now: number): void {
    const fullAfterMs = (this.#rate.burst / this.#rate.perSecond) * 1_000;
    for (const [id, { at }] of this.#buckets) if (now - at > fullAfterMs) this.#buckets.delete(id);
    for (const id of this.#buckets.keys()) {
      if (this.#buckets.size <= MAX_IDS * 0.9) return;
      this.#buckets.delete(id);
    }
  }
}
