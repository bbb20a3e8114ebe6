/** Exponential backoff with jitter: pure arithmetic, randomness is passed in. */

export interface BackoffOptions {
  readonly initialMs: number;
  readonly factor: number;
  readonly maxMs: number;
  /** Attempts at this pace; afterwards only the slow probe continues. */
  readonly tries: number;
  /** Pause between slow probes once the attempts are used up. 0 turns the probe off. */
  readonly probeMs: number;
  /** The random share of the delay, in both directions: 0.2 gives 0.8x to 1.2x. */
  readonly jitter: number;
}

export const DEFAULT_BACKOFF: BackoffOptions = {
  initialMs: 1_000,
  factor: 2,
  maxMs: 30_000,
  tries: 3,
  probeMs: 60_000,
  jitter: 0.2,
};

/** Delay before attempt number `attempt` (1 = first retry), or undefined if there are no more attempts. */
export function backoffDelay(
  options: BackoffOptions,
  attempt: number,
  random: () => number,
): number | undefined {
  const spread = 1 + (random() * 2 - 1) * options.jitter;
  if (attempt > options.tries) return options.probeMs > 0 ? options.probeMs * spread : undefined;
  const steady = Math.min(options.initialMs * options.factor ** (attempt - 1), options.maxMs);
  return Math.min(steady * spread, options.maxMs);
}
