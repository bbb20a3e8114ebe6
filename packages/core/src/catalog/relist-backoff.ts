/**
 * How soon a list is read again that its server says has changed: in a moment, nearly always. Reading a large list costs
 * everybody time, and who calls for it again and again has to wait longer each time.
 */
export interface PaceOptions {
  readonly now: () => number;
  /** Reasons that come this close together are one. */
  readonly minMs: number;
}

/** After the first dear reading, doubled with each that follows. */
const FIRST_PAUSE_MS = 1_000;
const MAX_PAUSE_MS = 60_000;

export class RelistPace {
  readonly #options: PaceOptions;
  #pauseMs = 0;
  #readAt = Number.NEGATIVE_INFINITY;

  constructor(options: PaceOptions) {
    this.#options = options;
  }

  /** From now on. */
  get delayMs(): number {
    const { now, minMs } = this.#options;
    return Math.max(minMs, this.#readAt + this.#pauseMs - now());
  }

  /** A reading that the server called for is over: a dear one, or one that nobody noticed. */
  note(isDear: boolean): void {
    const now = this.#options.now();
    // Quiet for long enough, it may begin anew.
    const isCalm = now - this.#readAt > 4 * this.#pauseMs + this.#options.minMs;
    this.#readAt = now;
    if (!isDear) this.#pauseMs = Math.floor(this.#pauseMs / 2);
    else
      this.#pauseMs = isCalm
        ? FIRST_PAUSE_MS
        : Math.min(Math.max(2 * this.#pauseMs, FIRST_PAUSE_MS), MAX_PAUSE_MS);
  }
}
