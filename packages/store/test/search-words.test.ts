import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { searchFault, toFtsQuery } from '../src/queries/search-words.js';

describe('the words of a search', () => {
  it.each([
    ['w '.repeat(1_000), '"w"*'],
    ['inv invoice in', '"invoice"*'],
    ['b a b', '"b"* "a"*'],
    ['create create_issue', '"create_issue"*'],
    ['', ''],
  ])('%j', (text, match) => {
    expect(toFtsQuery(text)).toBe(match);
  });

  it('are at most 16, unique, and none is a prefix of another', () => {
    const word = fc.stringMatching(/^[ab]{1,6}$/);
    fc.assert(
      fc.property(fc.array(word, { maxLength: 100 }), (words) => {
        const used = toFtsQuery(words.join(' ')).match(/[ab]+/g) ?? [];
        expect(used.length).toBeLessThanOrEqual(16);
        for (const one of used) expect(used.filter((other) => other.startsWith(one))).toEqual([one]);
        // No word is lost, unless there are too many.
        if (searchFault(words.join(' ')) === undefined)
          for (const one of words) expect(used.some((other) => other.startsWith(one))).toBe(true);
      }),
    );
  });

  it('are reported as too long', () => {
    const numbers = (count: number): string =>
      Array.from({ length: count }, (_, at) => `${at + 10}`).join(' ');
    expect(searchFault(numbers(16))).toBeUndefined();
    expect(searchFault(numbers(17))).toBe('expected at most 16 different words, got 17');
    expect(searchFault('w '.repeat(128))).toBeUndefined();
    expect(searchFault('w '.repeat(129))).toContain('at most 256 characters, got 258');
  });
});
