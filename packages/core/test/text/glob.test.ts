import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compileGlob, escapeGlob, literalOf } from '../../src/text/glob.js';

const crossing = (pattern: string, text: string): boolean =>
  compileGlob(pattern, { crossSlashes: true })(text);
const within = (pattern: string, text: string): boolean =>
  compileGlob(pattern, { crossSlashes: false })(text);

describe('a glob', () => {
  it.each([
    ['abc', 'abc', true],
    ['abc', 'abcd', false],
    ['', '', true],
    ['', 'a', false],
    ['*', '', true],
    ['a*', 'a', true],
    ['a*c', 'abbc', true],
    ['a*c', 'a/c', true],
    ['a*a', 'a', false],
    ['a*b*c', 'aXbYc', true],
    ['a*b*c', 'acb', false],
    ['?', 'x', true],
    ['?', '', false],
    ['a?c*', 'abcd', true],
    ['\\*', '*', true],
    ['\\*', 'x', false],
    ['\\?a', '?a', true],
    ['a\\b', 'a\\b', true],
    ['a\\\\*', 'a\\anything', true],
    ['a\\', 'a\\', true],
    ['[a]', 'a', false],
    ['{a,b}', 'a', false],
    ['.', 'x', false],
    ['a*\n', 'abc\n', true],
  ])('%j and %j: %j', (pattern, text, fits) => {
    expect(crossing(pattern, text)).toBe(fits);
  });

  it.each([
    ['/a/*', '/a/b', true],
    ['/a/*', '/a/b/c', false],
    ['/a/**', '/a/b/c', true],
    ['/a/?', '/a//', false],
    ['**/b', 'a/x/b', true],
    ['*/b', 'a/x/b', false],
    ['/a/*/c', '/a/b/c', true],
    ['/a/*/c', '/a/b/x/c', false],
    ['/a/**/d*', '/a/b/c/dd', true],
    ['/a/**/d*', '/a/b/c/d/e', false],
    ['a***b', 'a/b', true],
  ])('with slashes kept, %j and %j: %j', (pattern, text, fits) => {
    expect(within(pattern, text)).toBe(fits);
  });

  const pattern = fc.string({ unit: fc.constantFrom('a', 'b', '/', '*', '?', '\\'), maxLength: 8 });
  const text = fc.string({ unit: fc.constantFrom('a', 'b', '/', '*', '\\'), maxLength: 8 });

  /** The same as a regular expression, which is short but slow. */
  function byRegExp(glob: string, crossSlashes: boolean): RegExp {
    const one = crossSlashes ? '.' : '[^/]';
    const source = glob.replace(/\\[\\*?]|\*+|\?|[^*?\\]|\\/gs, (part) => {
      if (part === '?') return one;
      if (part.startsWith('*')) return part.length > 1 ? '.*' : `${one}*`;
      return (part.length > 1 ? part.slice(1) : part).replace(/[\\*?.+^${}()|[\]/]/g, '\\$&');
    });
    return new RegExp(`^${source}$`, 's');
  }

  it.each([true, false])('matches like a regular expression (slashes crossed: %s)', (crossSlashes) => {
    fc.assert(
      fc.property(pattern, text, (glob, value) => {
        expect(compileGlob(glob, { crossSlashes })(value)).toBe(byRegExp(glob, crossSlashes).test(value));
      }),
      { numRuns: 20_000 },
    );
  });

  it('that was escaped matches its text and nothing else', () => {
    fc.assert(
      fc.property(text, text, (one, other) => {
        expect(literalOf(escapeGlob(one))).toBe(one);
        expect(crossing(escapeGlob(one), other)).toBe(one === other);
      }),
      { numRuns: 10_000 },
    );
  });

  it('is fast where backtracking would be exponential', () => {
    const hostile = `${'*a'.repeat(100)}*b`;
    for (const crossSlashes of [true, false])
      expect(compileGlob(hostile, { crossSlashes })('a'.repeat(16_000))).toBe(false);
    expect(compileGlob(`${'?*'.repeat(60)}b`, { crossSlashes: true })('a'.repeat(16_000))).toBe(false);
    expect(compileGlob(`${'**/*a'.repeat(30)}b`, { crossSlashes: false })('a/'.repeat(8_000))).toBe(false);
  });
});
