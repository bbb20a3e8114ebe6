import { monitorEventLoopDelay } from 'node:perf_hooks';
import { collectGarbage } from '@turnbuckle/testing';
import { expect } from 'vitest';

export interface Strain {
  /** The longest time that the event loop was blocked. */
  readonly stallMs: number;
  /** The peak memory use of this thread, minus the use at the start. */
  readonly peakBytes: number;
}

const SAMPLE_MS = 20;
/** Garbage collection is late while other tests run: above this, garbage is collected before measuring. */
const DOUBTFUL_BYTES = 32 * 1_024 * 1_024;
const COLLECT_MS = 250;
const isStrict = process.env.TURNBUCKLE_TIMING === 'strict';

/** Measures event loop stalls and memory use during the work. */
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

/** Asserts that the event loop was never blocked for long. Only in the soak run, as it is a time bound. */
export function expectCalm(stallMs: number): void {
  if (isStrict) expect(stallMs).toBeLessThan(250);
}
