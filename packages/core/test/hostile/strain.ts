import { monitorEventLoopDelay } from 'node:perf_hooks';
import { collectGarbage } from '@turnbuckle/testing';
import { expect } from 'vitest';

export interface Strain {
  /** Longest time in which the event loop could do nothing else. */
  readonly stallMs: number;
  /** How much memory of this thread was in use at most, beyond what was at the beginning. */
  readonly peakBytes: number;
}

const SAMPLE_MS = 20;
/** Beside other tests the collector is late: more than this is looked at without what nobody holds, now and then. */
const DOUBTFUL_BYTES = 32 * 1_024 * 1_024;
const COLLECT_MS = 250;
const isStrict = process.env.TURNBUCKLE_TIMING === 'strict';

/** What some work costs the process it runs in. */
export async function strainOf(work: () => Promise<unknown>): Promise<Strain> {
  const inUse = (): number => {
    const { heapUsed, external } = process.memoryUsage();
    return heapUsed + external;
  };
  const before = inUse();
  let peak = before;
  const delay = monitorEventLoopDelay({ resolution: 10 });
  let collectedAt = 0;
  const sample = (): void => {
    if (!isStrict && inUse() - before > DOUBTFUL_BYTES) {
      if (performance.now() - collectedAt < COLLECT_MS) return;
      collectGarbage();
      collectedAt = performance.now();
    }
    peak = Math.max(peak, inUse());
  };
  const sampler = setInterval(sample, SAMPLE_MS);
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
  if (isStrict) expect(stallMs).toBeLessThan(250);
}
