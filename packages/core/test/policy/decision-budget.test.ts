/** The work of a decision is limited, whatever the arguments are. In doubt, every ask and deny rule matches. */
import { timeBound } from '@turnbuckle/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { strictTest, wideTest } from '../../src/policy/argument-pattern.js';
import { DecisionBudget } from '../../src/policy/decision-budget.js';
import { possibleAddresses } from '../../src/policy/possible-addresses.js';
import { decideFor } from './decision-world.js';

/** The size of a body, and the limit plus the excess before it is noticed: one text, read once. */
const BODY = 4_194_304;
const MAX_SPENT = 8_388_608 + 8_192 * 64 * 16;
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
        const work = new DecisionBudget();
        for (let rule = 0; rule < rules; rule += 1)
          for (const pattern of PATTERNS) wideTest(pattern)(values, work);
        expect(work.spent).toBeLessThan(MAX_SPENT);
      }),
      { seed: 9, numRuns: 40 },
    );
  }, 120_000);

  it('reuses what it found, however many rules there are', () => {
    const values = Array.from({ length: 50 }, (_, index) => `https://example.com/a/../${index}?q=%41`);
    const work = new DecisionBudget();
    wideTest('/etc/**')(values, work);
    const first = work.spent;
    wideTest('/etc/**')(values, work);
    expect(work.spent - first).toBeLessThan(first / 4);
  });

  it('treats undetermined values as a match for ask and deny, and never for allow', () => {
    const work = new DecisionBudget();
    expect(wideTest('/etc/**')('https://example.com/', work)).toBe(false);
    expect(strictTest('/home/**')('/home/x', work)).toBe(true);
    while (work.spend(1_000_000));
    expect(wideTest('/etc/**')('https://example.com/', work)).toBe(true);
    expect(wideTest('/etc/**')('plain', work)).toBe(true);
    expect(strictTest('/home/**')('/home/x', work)).toBe(false);
  });

  it('denies a flood of addresses that exceeds the limit, but not a list of ordinary ones', () => {
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
  ['combining marks in any order', `http://a${'\u0301\u0323'.repeat(4_000)}x`],
  ['zero bytes before the end', `http://a${'\0'.repeat(8_100)}x`],
])('reads an address with %s in linear time', (_what, address) => {
  const started = performance.now();
  for (let round = 0; round < 20; round += 1) possibleAddresses(`${address}${round}`);
  // Each took at least a tenth of a second when the search restarted at each character.
  expect((performance.now() - started) / 20).toBeLessThan(timeBound(25));
});
