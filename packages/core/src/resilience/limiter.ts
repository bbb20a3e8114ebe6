/** A concurrency limit with a bounded queue: first come, first served, refusal when the queue is full. */

import { type CancelSignal, offAbort, onAbort } from '../cancel-signal.js';

export interface LimiterOptions {
  readonly maxInFlight: number;
  readonly maxQueued: number;
}

export class Limiter {
  readonly #options: LimiterOptions;
  readonly #queue: Array<() => void> = [];
  #inFlight = 0;

  constructor(options: LimiterOptions) {
    this.#options = options;
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  get queued(): number {
    return this.#queue.length;
  }

  /** Takes a place if one is free. The fast path: no promise. Release it with `leave`. */
  tryEnter(): boolean {
    if (this.#inFlight >= this.#options.maxInFlight) return false;
    this.#inFlight += 1;
    return true;
  }

  /** Waits for a place; undefined when the queue is full; rejects with the signal's reason when aborted. */
  enter(signal?: CancelSignal): Promise<void> | undefined {
    if (this.#queue.length >= this.#options.maxQueued) return undefined;
    return new Promise((resolve, reject) => {
      const turn = (): void => {
        offAbort(signal, giveUp);
        resolve();
      };
      const giveUp = (): void => {
        this.#queue.splice(this.#queue.indexOf(turn), 1);
        reject(signal?.reason);
      };
      if (signal?.aborted) return reject(signal.reason);
      onAbort(signal, giveUp);
      this.#queue.push(turn);
    });
  }

  leave(): void {
    const next = this.#queue.shift();
    if (next === undefined) this.#inFlight -= 1;
    else next();
  }
}
