import { describe, expect, it } from 'vitest';
import { displayWidth, truncateToWidth } from '../../src/terminal/display-width.js';
import { growingTable, textTable } from '../../src/terminal/text-table.js';
import { wrapLines, wrapText } from '../../src/terminal/wrap-text.js';

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
    expect(truncateToWidth(text, width)).toBe(expected);
    expect(displayWidth(truncateToWidth(text, width))).toBeLessThanOrEqual(width);
  });
});

describe('a table', () => {
  const rows = [
    ['漢字', 'a', 'the first one'],
    ['x', `${RED}bb${PLAIN}`, 'the second one'],
  ];

  it('is aligned by display width', () => {
    expect(textTable(rows)).toEqual(['漢字  a   the first one', `x     ${RED}bb${PLAIN}  the second one`]);
  });

  it('cuts its last column to the screen, and omits it when nothing of it would be visible', () => {
    expect(textTable(rows, { width: 20 })[0]).toBe('漢字  a   the first…');
    expect(textTable(rows, { width: 14 })).toEqual(['漢字  a', `x     ${RED}bb${PLAIN}`]);
    expect(textTable([['a', 'tiny']], { width: 7 })).toEqual(['a  tiny']);
  });

  it('shrinks other columns before the last one', () => {
    const long = [['a-very-long-name-of-a-server', '12', 'why it failed, at length']];
    expect(textTable(long, { width: 40, shrink: [[0, 10]], minLastColumnWidth: 12 })).toEqual([
      'a-very-long-name-of-a…  12  why it fail…',
    ]);
    expect(textTable(long, { width: 24, shrink: [[0, 10]], minLastColumnWidth: 12 })).toEqual([
      'a-very-lo…  12  why it …',
    ]);
    expect(textTable(long, { shrink: [[0, 10]], minLastColumnWidth: 12 })).toEqual([long[0]?.join('  ')]);
    const ids = [
      ['8dd1c2e4-5a0f-4a51', 'fine'],
      ['k3v9x1-42', 'why it failed'],
    ];
    expect(
      textTable(ids, { width: 25, shrink: [[0, 10]], uncutColumns: [0], minLastColumnWidth: 13 }),
    ).toEqual(['8dd1c2e4-5a0f-4a51  fine', 'k3v9x1-42   why it failed']);
  });

  it('never has a line wider than the screen', () => {
    expect(textTable([['a-very-long-name', 'b', '']], { width: 10 })).toEqual(['a-very-lo…']);
  });

  it('can grow row by row, with columns as wide as the widest so far', () => {
    const table = growingTable();
    expect(table([['ab', 'x']])).toEqual(['ab  x']);
    expect(
      table([
        ['abcd', 'x'],
        ['a', 'x'],
      ]),
    ).toEqual(['abcd  x', 'a     x']);
    expect(table([['b', 'x']])).toEqual(['b     x']);
  });
});

it('text is wrapped between words, and long words stay whole', () => {
  expect(wrapText('one two three', 7)).toEqual(['one two', 'three']);
  expect(wrapText('a https://example.com/long b', 10)).toEqual(['a', 'https://example.com/long', 'b']);
  expect(wrapText('one two', Number.POSITIVE_INFINITY)).toEqual(['one two']);
  expect(wrapText('', 10)).toEqual(['']);
});

describe('lines that fit', () => {
  it.each([
    ['short', 20, 'short'],
    ['  → one two three', 12, '  → one two\n  three'],
    ['a https://example.invalid/long b', 8, 'a\nhttps://example.invalid/long\nb'],
    ['one two\n  three four', 9, 'one two\n  three\n  four'],
    [`${RED}one two${PLAIN} three`, 7, `${RED}one two${PLAIN}\nthree`],
    ['  Next: Sign in: turnbuckle login web', 30, '  Next: Sign in:\n  turnbuckle login web'],
    ['See turnbuckle list. Or wait for it', 22, 'See turnbuckle list.\nOr wait for it'],
    ['run: npx @turnbuckle/cli config refused', 20, 'run:\nnpx @turnbuckle/cli config refused'],
    ["run: node '/a b/bin.js' doctor web", 20, "run:\nnode '/a b/bin.js' doctor web"],
    ['run: node dist/bin.js doctor web, or not', 20, 'run:\nnode dist/bin.js doctor web,\nor not'],
  ])('%j in %i columns', (text, width, expected) => {
    expect(wrapLines(text, width)).toBe(expected);
  });

  it('continue with the given indent', () => {
    expect(wrapLines('  → one two three', 12, '    ')).toBe('  → one two\n    three');
  });
});
