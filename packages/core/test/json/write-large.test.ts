import fc from 'fast-check';
import { expect, it } from 'vitest';
import { runToEnd } from '../../src/json/slices.js';
import { hasMorePartsThan, writeInSlices, writeLarge } from '../../src/json/write-large.js';

const value = fc.letrec((tie) => ({
  node: fc.oneof(
    { maxDepth: 3 },
    fc.oneof(fc.jsonValue({ maxDepth: 1 }), fc.constantFrom(undefined, Number.NaN, '', new Date(0))),
    // Long enough to be written in slices.
    fc
      .oneof(fc.integer(), fc.string(), fc.constant(undefined), fc.constant({ a: 1 }))
      .map((one) => Array(6_000).fill(one)),
    fc.array(tie('node'), { maxLength: 4 }),
    fc.dictionary(fc.constantFrom('a', '', '7', '"', '__proto__', 'toJSON'), tie('node'), { maxKeys: 4 }),
  ),
})).node;

it('writes what JSON.stringify writes', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), value, { maxKeys: 3 }), (one) => {
      expect(runToEnd(writeLarge(one))).toBe(JSON.stringify(one));
    }),
    { numRuns: 200, seed: 9 },
  );
});

it('yields to other work only if there is much to write', async () => {
  expect(writeInSlices({ a: [1, 2, 3] })).toBe('{"a":[1,2,3]}');
  const rows = Array.from({ length: 30_000 }, (_, id) => ({ id, tags: ['a', 'b'] }));
  const writing = writeInSlices({ rows });
  expect(writing).toBeInstanceOf(Promise);
  expect(await writing).toBe(JSON.stringify({ rows }));
});

it('treats a key toJSON like any other key', () => {
  const rows = Array.from({ length: 30_000 }, (_, id) => ({ id }));
  const turns = (value: object): number => [...writeLarge(value)].length;
  expect(turns({ toJSON: 1, rows })).toBe(turns({ another: 1, rows }));
  expect(turns({ rows })).toBeGreaterThan(50);
});

it('stops counting parts at the limit', () => {
  expect(hasMorePartsThan([1, 2, 3], 4)).toBe(false);
  expect(hasMorePartsThan([1, 2, 3], 3)).toBe(true);
  expect(hasMorePartsThan('x'.repeat(1_000_000), 20_000)).toBe(true);
});
