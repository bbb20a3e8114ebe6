/**
 * Prevents retry storms: each retry draws from a bucket and each success refills it, so that a server that is down
 * sees few retries however many callers it has.
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

  /** True if a retry is allowed; its cost is then deducted. */
  spend(): boolean {
    if (this.#tokens < this.#cost) return false;
    this.#tokens -= this.#cost;
    return true;
  }

  earn(): void {
    if (this.#tokens < this.#capacity) this.#tokens += 1;
  }
}
