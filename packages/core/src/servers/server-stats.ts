/** Call counts of a server and the moving average of the duration. */
const SMOOTHING = 0.1;

export class ServerStats {
  #total = 0;
  #succeeded = 0;
  #failed = 0;
  #averageMs: number | undefined;
  #lastUsedAt: number | undefined;

  record(ok: boolean, durationMs: number, now: number): void {
    this.#total += 1;
    if (ok) this.#succeeded += 1;
    else this.#failed += 1;
    this.#averageMs =
      this.#averageMs === undefined ? durationMs : this.#averageMs * (1 - SMOOTHING) + durationMs * SMOOTHING;
    this.#lastUsedAt = now;
  }

  get snapshot(): {
    readonly total: number;
    readonly succeeded: number;
    readonly failed: number;
    readonly averageMs: number | undefined;
    readonly lastUsedAt: number | undefined;
  } {
    return {
      total: this.#total,
      succeeded: this.#succeeded,
      failed: this.#failed,
      averageMs: this.#averageMs,
      lastUsedAt: this.#lastUsedAt,
    };
  }
}
