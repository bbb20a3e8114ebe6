import { createContext, Script } from 'node:vm';
import { timeBound } from '@turnbuckle/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { boundPattern, worstCost } from '../../../src/catalog/schemas/pattern-guard.js';

const atom = fc.constantFrom(
  'a',
  'b',
  'ab',
  '[ab]',
  '\\w',
  '.',
  'a?',
  '^',
  '$',
  '\\d',
  '[^b]',
  '\\\\',
  '[\\]a]',
);
const quantifier = fc.constantFrom('', '', '*', '+', '?', '{2}', '{1,3}', '{0,}', '{1,200}', '*?', '+?');
const piece = fc
  .tuple(atom, quantifier)
  .map(([what, often]) => what + (/[\^$]/.test(what[0] ?? '') ? '' : often));
const group = fc
  .tuple(
    fc.constantFrom('(', '(?:'),
    fc.array(piece, { minLength: 1, maxLength: 3 }),
    fc.constantFrom('', '|'),
    quantifier,
  )
  .map(([open, parts, join, often]) => `${open}${parts.join(join)})${often}`);
const nested = fc
  .tuple(
    fc.array(fc.oneof(piece, group), { minLength: 1, maxLength: 3 }),
    fc.constantFrom('', '|'),
    quantifier,
  )
  .map(([parts, join, often]) => `(${parts.join(join)})${often}`);
const pattern = fc
  .array(fc.oneof(piece, group, nested), { minLength: 1, maxLength: 4 })
  .map((parts) => parts.join(''));

/** The longest text that the guard allows for a pattern; 0 if the pattern is not applied. */
function longestText(source: string): number {
  const bounded = boundPattern(source);
  const [, limit] = Array.isArray(bounded?.anyOf) ? bounded.anyOf : [];
  return limit === undefined ? 0 : Number(limit.minLength) - 1;
}

const LIMIT_MS = timeBound(1_000);
const sandbox = createContext({ source: '', text: '' });
const script = new Script("new RegExp(source, 'u').test(text)");

/** False if matching timed out. It is stopped, so that the test can report the pattern. */
function isFast(source: string, text: string): boolean {
  Object.assign(sandbox, { source, text });
  try {
    script.runInContext(sandbox, { timeout: LIMIT_MS });
    return true;
  } catch {
    return false;
  }
}

describe('the pattern guard', () => {
  it('only allows patterns that are fast on the worst allowed text', () => {
    fc.assert(
      fc.property(pattern, fc.constantFrom('a', 'b', 'ab', 'aab'), (source, unit) => {
        const longest = longestText(source);
        if (longest === 0) return true;
        const text = `${unit.repeat(Math.ceil(longest / unit.length)).slice(0, longest - 1)}!`;
        return isFast(source, text);
      }),
      { numRuns: 10_000, endOnFailure: true },
    );
  }, 60_000);

  it('never throws, and applies nothing that does not compile', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: 'binary' }), fc.string()), (source) => {
        const { degree } = worstCost(source);
        expect(degree).toBeGreaterThanOrEqual(0);
        if (degree !== Infinity) expect(() => new RegExp(source, 'u')).not.toThrow();
      }),
      { numRuns: 10_000 },
    );
  });

  it.each([
    '^(a+)+$',
    '(a*)*b',
    '^(a|aa)+$',
    '^(a|a)*$',
    '(.*a){20}',
    '^((a+)b?)*c$',
    '(?=a+)+b',
    '^(\\w+\\s?)*$',
    '(x+x+)+y',
    '^(([a-z])+.)+[A-Z]([a-z])+$',
    '(a?){40}a{40}',
    '(?:a?a?){30}b',
  ])('does not apply %s to long texts', (source) => {
    const longest = longestText(source);
    expect(longest === 0 || isFast(source, `${'a'.repeat(longest - 1)}!`)).toBe(true);
  });
});
