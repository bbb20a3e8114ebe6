import { expect, it } from 'vitest';
import { RelistBackoff } from '../../src/catalog/relist-backoff.js';
import { isSameJson } from '../../src/json/same-json.js';

function createPace() {
  let time = 0;
  const made = new RelistBackoff({ now: () => time, minMs: 100 });
  return {
    made,
    /** After an immediate change notification, reads the list as soon as allowed. Returns the wait in ms. */
    readAgain(isExpensive: boolean): number {
      const waited = made.delayMs;
      time += waited;
      made.recordRead(isExpensive);
      return waited;
    },
    rest: (ms: number) => {
      time += ms;
    },
  };
}

it('doubles the wait after each expensive reading, up to a minute', () => {
  const { readAgain } = createPace();
  const waits = Array.from({ length: 10 }, () => readAgain(true));
  expect(waits).toEqual([100, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000, 60_000]);
});

it('delays no list that is cheap to read', () => {
  const { readAgain } = createPace();
  expect(Array.from({ length: 5 }, () => readAgain(false))).toEqual([100, 100, 100, 100, 100]);
});

it('resets after a time without changes', () => {
  const { readAgain, rest } = createPace();
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
])('%j and %j are the same: %s', (left, right, expected) => {
  expect(isSameJson(left, right)).toBe(expected);
});
