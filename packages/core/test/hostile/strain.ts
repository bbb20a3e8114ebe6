import { monitorEventLoopDelay } from 'node:perf_hooks';
import { expect } from 'vitest';

export interface Strain {
  /** Longest time in which the event loop could do nothing else. */
  readonly stallMs: number;
  /** How much memory of this thread was in use at most, beyond what was at the beginning. */
  readonly peakBytes: number;
}

const SAMPLE_MS = 20;

/** What some work costs the process it runs in. */
export async function strainOf(work: () => Promise<unknown>): Promise<Strain> {
  const inUse = (): number => {
    const { heapUsed, external } = process.memoryUsage();
    return heapUsed + external;
  };
  const before = inUse();
  let peak = before;
  const delay = monitorEventLoopDelay({ resolution: 10 });
  const sampler = setInterval(() => {
    peak = Math.max(peak, inUse());
  }, SAMPLE_MS);
  delay.enable();
  try {
    await work();
  } finally {
    clearInterval(sampler);
    delay.disable();
  }
  return { stallMs: delay.max / 1e6, peakBytes: peak - before };
}

/** The event loop was never held up for long. A bound in time, so it only holds in the soak run. */
export function expectCalm(stallMs: number): void {
  if (process.env.TURNBUCKLE_TIMING === 'strict') expect(stallMs).toBeLessThan(250);
}
