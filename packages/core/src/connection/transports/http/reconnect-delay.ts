/** How soon a stream that ended is reopened: after at least a second, and later each time that it brought nothing. */

import { timerDelay } from '../../../async/timer-delay.js';
import { backoffDelay } from '../../../resilience/backoff.js';

const MIN_MS = 1_000;
const MAX_MS = 300_000;

export class ReconnectDelay {
  readonly #random: () => number;
  #failures = 0;

  constructor(random: () => number = Math.random) {
    this.#random = random;
  }

  /** The pause before the next attempt; a server may request a longer one. */
  next(askedMs = MIN_MS): number {
    this.#failures += 1;
    const initialMs = timerDelay(askedMs, { minMs: MIN_MS, maxMs: MAX_MS });
    const options = {
      initialMs,
      factor: 2,
      maxMs: MAX_MS,
      tries: Number.POSITIVE_INFINITY,
      probeMs: 0,
      jitter: 0.2,
    };
    return timerDelay(backoffDelay(options, this.#failures, this.#random) ?? MAX_MS, { minMs: MIN_MS });
  }

  /** It brought something: the delay starts over. */
  reset(): void {
    this.#failures = 0;
  }
}
