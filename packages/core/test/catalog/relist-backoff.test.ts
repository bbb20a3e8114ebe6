import { expect, it } from 'vitest';
import { RelistPace } from '../../src/catalog/relist-pace.js';
import { isSameJson } from '../../src/catalog/same-json.js';

function pace() {
  let time = 0;
  const made = new RelistPace({ now: () => time, minMs: 100 });
  return {
    made,
    /** A change is told at once; the list is read as soon as it may be. How long that took. */
    readAgain(isDear: boolean): number {
      const waited = made.delayMs;
      time += waited;
      made.note(isDear);
      return waited;
    },
    rest: (ms: number) => {
      time += ms;
    },
  };
}

it('makes who calls for dear readings wait twice as long each time, up to a minute', () => {
  const { readAgain } = pace();
  const waits = Array.from({ length: 10 }, () => readAgain(true));
  expect(waits).toEqual([100, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000, 60_000]);
});

it('holds up nobody whose lists are read in a moment', () => {
  const { readAgain } = pace();
  expect(Array.from({ length: 5 }, () => readAgain(false))).toEqual([100, 100, 100, 100, 100]);
});

it('forgets after a quiet time', () => {
  const { readAgain, rest } = pace();
  for (let round = 0; round < 5; round += 1) readAgain(true);
  rest(100_000);
  expect(readAgain(true)).toBe(100);
  expect(readAgain(true)).toBe(1_000);
});

it.each<[unknown, unknown, boolean]>([
  [{ a: 1, b: [{ c: null }] }, { b: [{ c: null }], a: 1 }, true],
  [{ a: 1 }, { a: 1, b: undefined }, false],
  [{ a: [1, 2] }, { a: [2, 1] }, false],
  [{ a: [] }, { a: {} }, false],
  [{ toString: 1 }, {}, false],
  [null, {}, false],
])('%j and %j: the same is %s', (left, right, expected) => {
  expect(isSameJson(left, right)).toBe(expected);
});
