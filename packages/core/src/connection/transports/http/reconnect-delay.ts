/** How soon a stream that ended is opened again: a second at the least, and later each time that it brought nothing. */
import { backoffDelay } from '../resilience/backoff.js';
import { timerDelay } from '../resilience/timer-delay.js';

const MIN_MS = 1_000;
const MAX_MS = 300_000;

export class ReopenPace {
  readonly #random: () => number;
  #inVain = 0;

  constructor(random: () => number = Math.random) {
    this.#random = random;
  }

  /** The pause before the next try; a server may ask for a longer one. */
  next(askedMs = MIN_MS): number {
    this.#inVain += 1;
    const initialMs = timerDelay(askedMs, { minMs: MIN_MS, maxMs: MAX_MS });
    const options = {
      initialMs,
      factor: 2,
      maxMs: MAX_MS,
      tries: Number.POSITIVE_INFINITY,
      probeMs: 0,
      jitter: 0.2,
    };
    return timerDelay(backoffDelay(options, this.#inVain, this.#random) ?? MAX_MS, { minMs: MIN_MS });
  }

  /** It brought something: the next end is the first. */
  worked(): void {
    this.#inVain = 0;
  }
}
