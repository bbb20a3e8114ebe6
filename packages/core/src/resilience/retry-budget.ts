/**
 * Keeps retries from becoming a storm: a bucket that each retry draws from and each success refills, so
 * that a server that is down sees few repeats however many callers it has.
 */
export class RetryBudget {
  readonly #capacity: number;
  readonly #cost: number;
  #tokens: number;

  constructor(options: { readonly capacity?: number; readonly cost?: number } = {}) {
    this.#capacity = options.capacity ?? 500;
    this.#cost = options.cost ?? 5;
    this.#tokens = this.#capacity;
  }

  /** True when a retry may be made; it is then paid for. */
  spend(): boolean {
    if (this.#tokens < this.#cost) return false;
    this.#tokens -= this.#cost;
    return true;
  }

  earn(): void {
    if (this.#tokens < this.#capacity) this.#tokens += 1;
  }
}
