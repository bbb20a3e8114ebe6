import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { backoffDelay } from '../../../src/resilience/backoff.js';

const options = fc.record({
  initialMs: fc.integer({ min: 1, max: 60_000 }),
  factor: fc.double({ min: 1, max: 10, noNaN: true }),
  maxMs: fc.integer({ min: 1, max: 86_400_000 }),
  tries: fc.nat(100),
  probeMs: fc.nat(86_400_000),
  jitter: fc.double({ min: 0, max: 1, noNaN: true }),
});

describe('backoffDelay', () => {
  it('stays inside its bounds, ends after its attempts, and probes at the probe interval', () => {
    const random = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
    fc.assert(
      fc.property(options, fc.integer({ min: 1, max: 2_000 }), random, (given, attempt, drawn) => {
        const delay = backoffDelay(given, attempt, () => drawn);
        if (attempt > given.tries) {
          expect(delay === undefined).toBe(given.probeMs === 0);
          if (delay !== undefined)
            expect(Math.abs(delay - given.probeMs)).toBeLessThanOrEqual(given.probeMs * given.jitter + 1e-6);
          return;
        }
        const steady = Math.min(given.initialMs * given.factor ** (attempt - 1), given.maxMs);
        expect(delay).toBeGreaterThanOrEqual(steady * (1 - given.jitter) - 1e-6);
        expect(delay).toBeLessThanOrEqual(Math.min(steady * (1 + given.jitter), given.maxMs) + 1e-6);
      }),
      { numRuns: 10_000 },
    );
  });

  it('never gets shorter without jitter', () => {
    fc.assert(
      fc.property(options, fc.integer({ min: 1, max: 99 }), (given, attempt) => {
        const steady = { ...given, jitter: 0, tries: 100 };
        const now = backoffDelay(steady, attempt, () => 0.5) ?? 0;
        expect(backoffDelay(steady, attempt + 1, () => 0.5)).toBeGreaterThanOrEqual(now);
      }),
      { numRuns: 10_000 },
    );
  });
});
