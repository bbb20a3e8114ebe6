import { timeBound } from '@turnbuckle/testing';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { ExactNumber } from '../../src/json/exact-number.js';
import { truncateValue as shorten } from '../../src/json/truncate-value.js';

const shortened = (value: unknown, maxLength: number): unknown => shorten(value, maxLength).value;

it('keeps a short value, with exact numbers as strings', () => {
  const value = { a: [1, 'x', null, true], b: { c: {} } };
  expect(shortened(value, 1_000)).toEqual(value);
  expect(shortened({ id: new ExactNumber('90071992547409931') }, 1_000)).toEqual({ id: '90071992547409931' });
  const date = new Date(0);
  expect(shortened({ date }, 1_000)).toEqual({ date });
});

it('reports what is left out, and where', () => {
  expect(shortened({ text: 'x'.repeat(100) }, 30)).toEqual({
    text: `${'x'.repeat(18)}… (82 more characters)`,
  });
  const list = shortened({ list: Array(1_000).fill(1) }, 100) as { list: unknown[] };
  expect(list.list.length).toBeLessThan(30);
  expect(list.list.at(-1)).toMatch(/^… \(9\d\d more\)$/);
  const members = Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`k${index}`, 1]));
  expect(shortened(members, 100)).toMatchObject({ k0: 1, '…': expect.stringMatching(/^4\d\d more$/) });
});

it('terminates for cycles and deep nesting', () => {
  const ring: Record<string, unknown> = {};
  ring.self = [ring, ring];
  expect(JSON.stringify(shortened(ring, 10_000)).length).toBeLessThan(40_000);
});

it('divides the budget: a large value does not hide its siblings, at any depth', () => {
  const large = 'x'.repeat(35_000);
  const { value, isCut, notShown } = shorten(
    { comment: large, inner: { text: large, list: [large, { path: '/' }] }, command: 'rm -rf ~' },
    32_768,
  );
  expect(value).toMatchObject({ command: 'rm -rf ~', inner: { list: [expect.any(String), { path: '/' }] } });
  expect(isCut).toBe(true);
  expect(notShown.characters).toBeGreaterThan(70_000);
  expect(JSON.stringify(value).length).toBeGreaterThan(30_000);
  expect(JSON.stringify(value).length).toBeLessThan(34_000);
});

it('names each of a thousand members, even if the first ones are large', () => {
  const names = Array.from({ length: 1_000 }, (_, index) => `argument${index}`);
  for (const size of [10, 200, 40_000]) {
    const members = Object.fromEntries(names.map((name) => [name, 'y'.repeat(size)]));
    expect(Object.keys(shortened(members, 32_768) as object)).toEqual(names);
  }
});

it('never truncates a value that fits, and always reports a truncation', () => {
  expect(shorten({ '   ': '' }, 10)).toMatchObject({ value: { '   ': '' }, isCut: false });
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 5 }), fc.integer({ min: 10, max: 400 }), (value, maxLength) => {
      const { value: shown, isCut } = shorten(value, maxLength);
      expect(isCut).toBe(JSON.stringify(shown) !== JSON.stringify(value));
      // The estimated length of a value is at most twice its length in JSON.
      if (JSON.stringify(value).length * 4 <= maxLength) expect(isCut).toBe(false);
      expect(JSON.stringify(shown).length).toBeLessThan(maxLength * 40);
    }),
  );
});

it('keeps two names that look the same when truncated, and a name that equals the truncation mark', () => {
  const name = 'n'.repeat(5_000);
  const shown = shortened({ [`${name}a`]: 1, [`${name}b`]: 2, '…': 'mine', z: 'z'.repeat(500) }, 800);
  expect(Object.values(shown as object)).toEqual([1, 2, 'mine', expect.any(String)]);
});

it('is fast for values that are built to be slow', () => {
  const deep = (depth: number): unknown =>
    depth === 0 ? 'x'.repeat(50) : [deep(depth - 1), deep(depth - 1)];
  const chain = Array.from({ length: 60 }).reduce<unknown>(
    (inner) => ({ a: inner }),
    Array(20_000).fill('abc'),
  );
  for (const value of [deep(14), chain, Array(9_000).fill('x'.repeat(5_000))]) {
    const from = performance.now();
    shorten(value, 32_768);
    expect(performance.now() - from).toBeLessThan(timeBound(100));
  }
});
