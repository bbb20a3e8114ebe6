import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ERRORS, type ErrorCode } from '../../../src/errors.js';
import { retryPlan } from '../../../src/resilience/retry-plan.js';

const failure = fc.record({
  code: fc.constantFrom(
    ...(Object.keys(ERRORS) as ErrorCode[]),
    'CONNECTION_LOST' as const,
    'RATE_LIMITED' as const,
  ),
  sent: fc.constantFrom(true, false, undefined),
  retryAfterMs: fc.option(fc.nat(7_200_000), { nil: undefined }),
  headerMismatch: fc.boolean(),
});
const circumstances = fc.record({
  safe: fc.boolean(),
  attempt: fc.integer({ min: 1, max: 10 }),
  leftMs: fc.integer({ min: -1_000, max: 600_000 }),
});

describe('retryPlan', () => {
  it('never repeats a call that may have run and is not safe to repeat', () => {
    fc.assert(
      fc.property(failure, circumstances, (what, where) => {
        const plan = retryPlan({ ...what, headerMismatch: false }, { ...where, safe: false });
        const mayHaveHappened = what.code === 'CONNECTION_LOST' && what.sent !== false;
        if (mayHaveHappened) expect(plan).toEqual({ kind: 'outcome-unknown' });
        else expect(plan.kind).not.toBe('outcome-unknown');
        if (plan.kind === 'retry')
          expect(
            what.code === 'RATE_LIMITED' || (what.code === 'CONNECTION_LOST' && what.sent === false),
          ).toBe(true);
      }),
      { numRuns: 10_000 },
    );
  });

  it('ends after few attempts and never waits longer than the remaining time', () => {
    fc.assert(
      fc.property(failure, circumstances, (what, where) => {
        const plan = retryPlan(what, where);
        if (plan.kind !== 'retry') return;
        expect(where.attempt).toBeLessThan(3);
        expect(plan.delayMs).toBeLessThanOrEqual(30_000);
        if (plan.delayMs > 0) expect(plan.delayMs).toBeLessThanOrEqual(where.leftMs);
      }),
      { numRuns: 10_000 },
    );
  });
});
