import fc from 'fast-check';
import { expect, it } from 'vitest';
import { isDeeperThan, isTextDeeperThan } from '../../src/json/depth.js';

/** The depth by the book, for values that are small enough for it. */
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

it('agrees with the value, whatever its strings look like', () => {
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

it('comes to an end over rings, a million levels and text that is no JSON', () => {
  const ring: { self?: unknown } = {};
  ring.self = [ring];
  expect(isDeeperThan(ring)).toBe(true);
  expect(isTextDeeperThan('['.repeat(1_000_000))).toBe(true);
  expect(isTextDeeperThan(`"${'['.repeat(10_000)}`)).toBe(false);
  expect(isTextDeeperThan('}'.repeat(100_000) + '['.repeat(2_000))).toBe(false);
});
