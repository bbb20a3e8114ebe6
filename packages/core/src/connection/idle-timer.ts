/** Ends what was idle for a while. One timer, however many calls pass. */

export interface IdleTimerOptions {
  /** 0: never. */
  readonly idleMs: number;
  readonly onIdle: () => void;
}

export class IdleTimer {
  readonly #options: IdleTimerOptions;
  #users = 0;
  #lastUse = performance.now();
  #timer: NodeJS.Timeout | undefined;

  constructor(options: IdleTimerOptions) {
    this.#options = options;
  }

  get isInUse(): boolean {
    return this.#users > 0;
  }

  /** When it was last released; before that, when it was created. */
  get lastUse(): number {
    return this.#lastUse;
  }

  enter(): void {
    this.#users += 1;
  }

  /** Also starts the wait if it is called without a user. */
  leave(): void {
    if (this.#users > 0) this.#users -= 1;
    this.#lastUse = performance.now();
    if (this.#options.idleMs === 0) return;
    if (this.#timer === undefined) this.#startTimer(this.#options.idleMs);
  }

  cancel(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #startTimer(delayMs: number): void {
    this.#timer = setTimeout(() => this.#checkIdle(), delayMs).unref();
  }

  #checkIdle(): void {
    this.#timer = undefined;
    // The current user restarts the wait when it leaves.
    if (this.#users > 0) return;
    const leftMs = this.#lastUse + this.#options.idleMs - performance.now();
    if (leftMs > 0) this.#startTimer(leftMs);
    else this.#options.onIdle();
  }
}
