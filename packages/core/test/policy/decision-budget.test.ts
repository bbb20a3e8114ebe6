/** Whatever arrives as an argument: a decision looks at so much and no more, and in doubt every guard takes it. */
import { timeBound } from '@turnbuckle/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { addressesMeant } from '../../src/policy/address.js';
import { strictTest, wideTest } from '../../src/policy/argument-pattern.js';
import { DecisionWork } from '../../src/policy/decision-work.js';
import { decideFor } from './decision-world.js';

/** What a body can hold, and what can be looked at beyond the bound before it is noticed: one text, read once. */
const BODY = 4_194_304;
const MAX_LOOKED_AT = 8_388_608 + 8_192 * 64 * 16;
const PATTERNS = ['/etc/**', 'file:///etc/**', '*?secret', { startsWith: '/etc' }] as const;

const BITS = [
  '.',
  '/',
  '\\',
  '%2e',
  '%25',
  '\0',
  ' ',
  ':',
  '@',
  '?',
  '#',
  '/../',
  'a',
  '|',
  '\n',
  '://',
  'é',
  '\u0301',
];
const STARTS = ['http://', 'file:///', 'data:', 'FILE://x@', '\0\0http:', '', '/'];
const ENDS = ['x', 'x/', ':80', '.:', ''];

describe('one decision', () => {
  it('looks at a bounded number of characters, as one text or as ten thousand', () => {
    const shape = fc.record({
      start: fc.constantFrom(...STARTS),
      bits: fc.array(fc.constantFrom(...BITS), { minLength: 1, maxLength: 4 }),
      end: fc.constantFrom(...ENDS),
      length: fc.constantFrom(40, 400, 8_000, 16_000, 1_000_000, BODY),
      rules: fc.constantFrom(1, 20),
    });
    fc.assert(
      fc.property(shape, ({ start, bits, end, length, rules }) => {
        const unit = bits.join('');
        const text = start + unit.repeat(Math.ceil(length / unit.length));
        const count = Math.min(10_000, Math.floor(BODY / text.length) || 1);
        const values = Array.from({ length: count }, (_, index) => `${text}${index}${end}`);
        const work = new DecisionWork();
        for (let rule = 0; rule < rules; rule += 1)
          for (const pattern of PATTERNS) wideTest(pattern)(values, work);
        expect(work.done).toBeLessThan(MAX_LOOKED_AT);
      }),
      { seed: 9, numRuns: 40 },
    );
  }, 120_000);

  it('is made by what was found once, however many rules ask', () => {
    const values = Array.from({ length: 50 }, (_, index) => `https://example.com/a/../${index}?q=%41`);
    const work = new DecisionWork();
    wideTest('/etc/**')(values, work);
    const first = work.done;
    wideTest('/etc/**')(values, work);
    expect(work.done - first).toBeLessThan(first / 4);
  });

  it('takes what it has no telling of for what a guard means, and never for what is allowed', () => {
    const work = new DecisionWork();
    expect(wideTest('/etc/**')('https://example.com/', work)).toBe(false);
    expect(strictTest('/home/**')('/home/x', work)).toBe(true);
    while (work.spend(1_000_000));
    expect(wideTest('/etc/**')('https://example.com/', work)).toBe(true);
    expect(wideTest('/etc/**')('plain', work)).toBe(true);
    expect(strictTest('/home/**')('/home/x', work)).toBe(false);
  });

  it('denies a flood of addresses that it cannot read to the end, and not a list of ordinary ones', () => {
    const rules = [
      { action: 'deny', tool: 'echo', arguments: { path: '/etc/**' } },
      { action: 'allow', caller: '*' },
    ] as const;
    const flood = Array.from({ length: 400 }, (_, index) => `http://${'.'.repeat(8_100)}x/${index}`);
    const ordinary = Array.from({ length: 1_000 }, (_, index) => `https://example.com/page/${index}?q=a%20b`);
    expect(decideFor(rules, 'a', 'files:echo', { args: { path: flood } }).action).toBe('deny');
    expect(decideFor(rules, 'a', 'files:echo', { args: { path: ordinary } }).action).toBe('allow');
  });
});

it.each([
  ['dots before the end of a host', `http://${'.'.repeat(8_100)}x/`],
  ['slashes before the end', `http://a${'/'.repeat(8_100)}x`],
  ['blanks before the end', `http://a${' '.repeat(8_100)}x`],
  ['marks in no order', `http://a${'\u0301\u0323'.repeat(4_000)}x`],
  ['zero bytes before the end', `http://a${'\0'.repeat(8_100)}x`],
])('reads an address with %s in one go', (_what, address) => {
  const started = performance.now();
  for (let round = 0; round < 20; round += 1) addressesMeant(`${address}${round}`);
  // Each took a tenth of a second and more when it was begun anew at each character.
  expect((performance.now() - started) / 20).toBeLessThan(timeBound(25));
});
