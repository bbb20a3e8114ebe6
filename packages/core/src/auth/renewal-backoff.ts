/** After a renewal that failed, the authorization server is left alone for a while: longer each time. */
import { TurnbuckleError } from '../errors.js';

const FIRST_MS = 1_000;
const LONGEST_MS = 30_000;

export class RenewalPause {
  readonly #now: () => number;
  #failures = 0;
  #until = Number.NEGATIVE_INFINITY;
  #error: unknown;

  constructor(now: () => number) {
    this.#now = now;
  }

  get isOn(): boolean {
    return this.#now() < this.#until;
  }

  /** Does the work, or fails as it failed last time while the pause lasts. */
  async guard(work: () => Promise<void>): Promise<void> {
    if (this.isOn) throw this.#error;
    try {
      await work();
      this.end();
    } catch (error) {
      // That a person is needed is known without asking anybody.
      if (!(error instanceof TurnbuckleError && error.code === 'AUTH_REQUIRED')) this.#begin(error);
      throw error;
    }
  }

  /** Something has changed: the next renewal is tried. */
  end(): void {
    this.#failures = 0;
    this.#until = Number.NEGATIVE_INFINITY;
  }

  #begin(error: unknown): void {
    this.#error = error;
    this.#until = this.#now() + Math.min(FIRST_MS * 2 ** this.#failures, LONGEST_MS);
    this.#failures += 1;
  }
}
