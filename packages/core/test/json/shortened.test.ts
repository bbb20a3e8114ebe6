import { expect, it } from 'vitest';
import { ExactNumber } from '../../src/json/exact-number.js';
import { shortened } from '../../src/json/shortened.js';

it('is the same where it is short, with numbers by their digits as texts', () => {
  const value = { a: [1, 'x', null, true], b: { c: {} } };
  expect(shortened(value, 1_000)).toEqual(value);
  expect(shortened({ id: new ExactNumber('90071992547409931') }, 1_000)).toEqual({ id: '90071992547409931' });
  const date = new Date(0);
  expect(shortened({ date }, 1_000)).toEqual({ date });
});

it('says what is left out, and where', () => {
  expect(shortened({ text: 'x'.repeat(100) }, 30)).toEqual({
    text: `${'x'.repeat(18)}… (82 more characters)`,
  });
  const list = shortened({ list: Array(1_000).fill(1) }, 100) as { list: unknown[] };
  expect(list.list.length).toBeLessThan(30);
  expect(list.list.at(-1)).toMatch(/^… \(9\d\d more\)$/);
  const members = Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`k${index}`, 1]));
  expect(shortened(members, 100)).toMatchObject({ k0: 1, '…': expect.stringMatching(/^4\d\d more$/) });
});

it('ends with rings, and with what is nested deep', () => {
  const ring: Record<string, unknown> = {};
  ring.self = [ring, ring];
  expect(JSON.stringify(shortened(ring, 10_000)).length).toBeLessThan(40_000);
});
