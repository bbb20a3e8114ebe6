/** Backoff after failed refreshes: each pause is longer. */
import { TurnbuckleError } from '../errors.js';

const INITIAL_BACKOFF_MS = 1_000;
const MAX_BACKOFF_MS = 30_000;

export class RenewalBackoff {
  readonly #now: () => number;
  #failures = 0;
  #until = Number.NEGATIVE_INFINITY;
  #error: unknown;

  /** `now` from a monotonic clock. */
  constructor(now: () => number) {
    this.#now = now;
  }

  get isActive(): boolean {
    return this.#now() < this.#until;
  }

  /** Runs the work, or repeats the last error during the pause. */
  async run(work: () => Promise<void>): Promise<void> {
    if (this.isActive) throw this.#error;
    try {
      await work();
      this.reset();
    } catch (error) {
      // A required sign-in is known without a request.
      if (!(error instanceof TurnbuckleError && error.code === 'AUTH_REQUIRED')) this.#start(error);
      throw error;
    }
  }

  /** Something has changed: the next refresh is attempted. */
  reset(): void {
    this.#failures = 0;
    this.#until = Number.NEGATIVE_INFINITY;
  }

  #start(error: unknown): void {
    this.#error = error;
    this.#until = this.#now() + Math.min(INITIAL_BACKOFF_MS * 2 ** this.#failures, MAX_BACKOFF_MS);
    this.#failures += 1;
  }
}
