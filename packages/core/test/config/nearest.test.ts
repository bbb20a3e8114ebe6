import fc from 'fast-check';
import { expect, it } from 'vitest';
import { nearest } from '../../src/config/nearest.js';

/** As anybody would write it: all of both texts. */
function distanceOf(left: string, right: string): number {
  let previous = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let row = 1; row <= left.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= right.length; column += 1) {
      const same = (previous[column - 1] ?? 0) + (left[row - 1] === right[column - 1] ? 0 : 1);
      current.push(Math.min((previous[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1, same));
    }
    previous = current;
  }
  return previous[right.length] ?? 0;
}

it('finds the same one as a comparison of everything with everything', () => {
  const word = fc.string({ unit: fc.constantFrom('a', 'b', 'c', '_'), maxLength: 20 });
  fc.assert(
    fc.property(word, fc.array(word, { maxLength: 12 }), (given, candidates) => {
      const limit = Math.max(2, Math.floor(given.length / 3));
      const distances = candidates.map((one) => distanceOf(given, one));
      const least = Math.min(...distances, Infinity);
      const expected = least <= limit ? candidates[distances.indexOf(least)] : undefined;
      expect(nearest(given, candidates)).toBe(expected);
    }),
    { seed: 9, numRuns: 500 },
  );
});

it.each([
  ['names as long as they may be', 250, 250],
  ['a word as long as it may be', 512, 40],
  ['the longest that are compared', 64, 64],
  ['short ones', 12, 12],
])('does little for %s, however many there are', (_what, wordLength, length) => {
  const candidates = Array.from({ length: 20_000 }, (_, index) => `${index}`.padStart(length, 'qx'));
  const work = { pairs: 0 };
  nearest('q'.repeat(wordLength), candidates, work);
  expect(work.pairs).toBeLessThan(210_000);
});

it('suggests nothing for what nobody types', () => {
  const long = 'q'.repeat(65);
  expect(nearest(`${long}x`, [long])).toBeUndefined();
  expect(nearest(long.slice(2), [long.slice(1)])).toBe(long.slice(1));
});
