import { describe, expect, it } from 'vitest';
import { cutToWidth, displayWidth } from '../../src/display-width.js';
import { textTable } from '../../src/text-table.js';
import { wrapText } from '../../src/wrap-text.js';

const RED = '\u001b[31m';
const PLAIN = '\u001b[39m';

describe('the width of a text', () => {
  it.each([
    ['', 0],
    ['plain', 5],
    ['漢字', 4],
    ['ｱ', 1],
    ['Ａ', 2],
    ['한글', 4],
    ['e\u0301', 1],
    ['🦀', 2],
    ['☀', 1],
    [`${RED}red${PLAIN}`, 3],
  ])('of %j is %i', (text, width) => {
    expect(displayWidth(text)).toBe(width);
  });

  it.each([
    ['plain', 5, 'plain'],
    ['plain', 4, 'pla…'],
    ['plain', 1, '…'],
    ['plain', 0, ''],
    ['漢字漢字', 5, '漢字…'],
    ['漢字漢字', 6, '漢字…'],
    ['🦀🦀🦀', 5, '🦀🦀…'],
    ['a🦀b', 3, 'a…'],
    [`${RED}red${PLAIN} hot`, 3, `${RED}re…${PLAIN}`],
  ])('%j cut to %i is %j', (text, width, expected) => {
    expect(cutToWidth(text, width)).toBe(expected);
    expect(displayWidth(cutToWidth(text, width))).toBeLessThanOrEqual(width);
  });
});

describe('a table', () => {
  const rows = [
    ['漢字', 'a', 'the first one'],
    ['x', `${RED}bb${PLAIN}`, 'the second one'],
  ];

  it('is aligned by what the screen shows', () => {
    expect(textTable(rows)).toEqual(['漢字  a   the first one', `x     ${RED}bb${PLAIN}  the second one`]);
  });

  it('has its last column cut to the screen, and left out where nothing of it would be seen', () => {
    expect(textTable(rows, { width: 20 })[0]).toBe('漢字  a   the first…');
    expect(textTable(rows, { width: 14 })).toEqual(['漢字  a', `x     ${RED}bb${PLAIN}`]);
    expect(textTable([['a', 'tiny']], { width: 7 })).toEqual(['a  tiny']);
  });
});

it('text is wrapped between words, and long words stay whole', () => {
  expect(wrapText('one two three', 7)).toEqual(['one two', 'three']);
  expect(wrapText('a https://example.com/long b', 10)).toEqual(['a', 'https://example.com/long', 'b']);
  expect(wrapText('one two', Number.POSITIVE_INFINITY)).toEqual(['one two']);
  expect(wrapText('', 10)).toEqual(['']);
});
