/** Exponential backoff with jitter: pure arithmetic, randomness handed in. */

export interface BackoffOptions {
  readonly initialMs: number;
  readonly factor: number;
  readonly maxMs: number;
  /** Tries at this pace; afterwards only the slow probe goes on. */
  readonly tries: number;
  /** Pause between slow probes once the tries are used up. 0 turns the probe off. */
  readonly probeMs: number;
  /** Share of the delay that is random, on both sides: 0.2 gives 0.8x to 1.2x. */
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

/** Delay before try number `attempt` (1 = first retry), or undefined when nothing more is to be tried. */
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
