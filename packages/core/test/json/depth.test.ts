import fc from 'fast-check';
import { expect, it } from 'vitest';
import { isDeeperThan, isTextDeeperThan } from '../../src/json/depth.js';

/** The depth by recursion, for small values. */
function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}

const value = fc.letrec((tie) => ({
  node: fc.oneof(
    { maxDepth: 12, withCrossShrink: true },
    fc.oneof(fc.constantFrom('{[', ']}', '"', '\\', '\\"['), fc.integer(), fc.string()),
    fc.array(tie('node'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom('a', '{', '"[', '\\'), tie('node'), { maxKeys: 3 }),
  ),
})).node;

it('agrees with a recursive count, whatever the strings contain', () => {
  fc.assert(
    fc.property(
      value,
      fc.integer({ min: 0, max: 14 }),
      fc.integer({ min: 0, max: 2 }),
      (one, max, indent) => {
        const isDeep = depthOf(one) > max;
        expect(isTextDeeperThan(JSON.stringify(one, undefined, indent), max)).toBe(isDeep);
        expect(isDeeperThan(one, max)).toBe(isDeep);
      },
    ),
    { numRuns: 10_000, seed: 9 },
  );
});

it('terminates for cycles, a million levels and text that is not JSON', () => {
  const ring: { self?: unknown } = {};
  ring.self = [ring];
  expect(isDeeperThan(ring)).toBe(true);
  expect(isTextDeeperThan('['.repeat(1_000_000))).toBe(true);
  expect(isTextDeeperThan(`"${'['.repeat(10_000)}`)).toBe(false);
  expect(isTextDeeperThan('}'.repeat(100_000) + '['.repeat(2_000))).toBe(false);
});
