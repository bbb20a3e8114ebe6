/**
 * How soon a changed list is read again: usually after a moment. Reading a large list costs time for everyone, so
 * repeated changes wait longer each time.
 */
export interface RelistBackoffOptions {
  /** From a monotonic clock. */
  readonly now: () => number;
  /** Notifications this close together are merged. */
  readonly minMs: number;
}

/** After the first expensive reading, doubled with each further one. */
const INITIAL_PAUSE_MS = 1_000;
const MAX_PAUSE_MS = 60_000;

export class RelistBackoff {
  readonly #options: RelistBackoffOptions;
  #pauseMs = 0;
  #readAt = Number.NEGATIVE_INFINITY;

  constructor(options: RelistBackoffOptions) {
    this.#options = options;
  }

  /** The delay from now. */
  get delayMs(): number {
    const { now, minMs } = this.#options;
    return Math.max(minMs, this.#readAt + this.#pauseMs - now());
  }

  /** A reading caused by a notification ended: an expensive or a cheap one. */
  recordRead(isExpensive: boolean): void {
    const now = this.#options.now();
    // After a long quiet period it starts over.
    const isCalm = now - this.#readAt > 4 * this.#pauseMs + this.#options.minMs;
    this.#readAt = now;
    if (!isExpensive) this.#pauseMs = Math.floor(this.#pauseMs / 2);
    else
      this.#pauseMs = isCalm
        ? INITIAL_PAUSE_MS
        : Math.min(Math.max(2 * this.#pauseMs, INITIAL_PAUSE_MS), MAX_PAUSE_MS);
  }
}
