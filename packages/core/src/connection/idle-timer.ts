/** Ends what nobody has used for a while. One timer, however many calls pass. */

export interface IdleStopOptions {
  /** 0: never. */
  readonly idleMs: number;
  readonly stop: () => void;
}

export class IdleStop {
  readonly #options: IdleStopOptions;
  #users = 0;
  #lastUse = Date.now();
  #timer: NodeJS.Timeout | undefined;

  constructor(options: IdleStopOptions) {
    this.#options = options;
  }

  get isInUse(): boolean {
    return this.#users > 0;
  }

  /** When somebody last left it; before that, when it was made. */
  get lastUse(): number {
    return this.#lastUse;
  }

  enter(): void {
    this.#users += 1;
  }

  /** Also begins the wait when it is called without a user. */
  leave(): void {
    if (this.#users > 0) this.#users -= 1;
    this.#lastUse = Date.now();
    if (this.#options.idleMs === 0) return;
    if (this.#timer === undefined) this.#arm(this.#options.idleMs);
  }

  cancel(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #arm(delayMs: number): void {
    this.#timer = setTimeout(() => this.#look(), delayMs).unref();
  }

  #look(): void {
    this.#timer = undefined;
    // Whoever uses it now begins the wait anew when it leaves.
    if (this.#users > 0) return;
    const leftMs = this.#lastUse + this.#options.idleMs - Date.now();
    if (leftMs > 0) this.#arm(leftMs);
    else this.#options.stop();
  }
}
