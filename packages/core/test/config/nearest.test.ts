import fc from 'fast-check';
import { expect, it } from 'vitest';
import { nearest } from '../../src/text/nearest.js';

/** The textbook algorithm, over the full length of both texts. */
function distanceOf(left: string, right: string): number {
  const rows = [Array.from({ length: right.length + 1 }, (_, index) => index)];
  const at = (row: number, column: number): number => rows[row]?.[column] ?? 0;
  for (let row = 1; row <= left.length; row += 1) {
    rows.push([row]);
    for (let column = 1; column <= right.length; column += 1) {
      const same = at(row - 1, column - 1) + (left[row - 1] === right[column - 1] ? 0 : 1);
      const isSwapped =
        row > 1 && column > 1 && left[row - 1] === right[column - 2] && left[row - 2] === right[column - 1];
      const swapped = isSwapped ? at(row - 2, column - 2) + 1 : Infinity;
      rows[row]?.push(Math.min(at(row - 1, column) + 1, at(row, column - 1) + 1, same, swapped));
    }
  }
  return at(left.length, right.length);
}

it('finds the same candidate as the textbook algorithm', () => {
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
  ['names of maximum length', 250, 250],
  ['a word of maximum length', 512, 40],
  ['the longest names that are compared', 64, 64],
  ['short names', 12, 12],
])('does little work for %s, however many there are', (_what, wordLength, length) => {
  const candidates = Array.from({ length: 20_000 }, (_, index) => `${index}`.padStart(length, 'qx'));
  const work = { pairs: 0 };
  nearest('q'.repeat(wordLength), candidates, work);
  expect(work.pairs).toBeLessThan(210_000);
});

it('prefers a word with two swapped letters', () => {
  expect(nearest('evn', ['era', 'env', 'type'])).toBe('env');
  expect(nearest('agrs', ['auth', 'args'])).toBe('args');
});

it('suggests nothing for very long words', () => {
  const long = 'q'.repeat(65);
  expect(nearest(`${long}x`, [long])).toBeUndefined();
  expect(nearest(long.slice(2), [long.slice(1)])).toBe(long.slice(1));
});
