import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { searchFault, toMatch } from '../src/search-words.js';

describe('what a search looks for', () => {
  it.each([
    ['w '.repeat(1_000), '"w"*'],
    ['inv invoice in', '"invoice"*'],
    ['b a b', '"b"* "a"*'],
    ['create create_issue', '"create_issue"*'],
    ['', ''],
  ])('%j', (text, match) => {
    expect(toMatch(text)).toBe(match);
  });

  it('is never more than 16 words, each once, none with which another begins', () => {
    const word = fc.stringMatching(/^[ab]{1,6}$/);
    fc.assert(
      fc.property(fc.array(word, { maxLength: 100 }), (words) => {
        const used = toMatch(words.join(' ')).match(/[ab]+/g) ?? [];
        expect(used.length).toBeLessThanOrEqual(16);
        for (const one of used) expect(used.filter((other) => other.startsWith(one))).toEqual([one]);
        // Nothing of what was wanted is lost, as long as it is not too much.
        if (searchFault(words.join(' ')) === undefined)
          for (const one of words) expect(used.some((other) => other.startsWith(one))).toBe(true);
      }),
    );
  });

  it('is told to be too much', () => {
    const numbers = (count: number): string =>
      Array.from({ length: count }, (_, at) => `${at + 10}`).join(' ');
    expect(searchFault(numbers(16))).toBeUndefined();
    expect(searchFault(numbers(17))).toBe('a search has at most 16 different words, this one 17');
    expect(searchFault('w '.repeat(128))).toBeUndefined();
    expect(searchFault('w '.repeat(129))).toContain('at most 256 characters, this one 258');
  });
});
