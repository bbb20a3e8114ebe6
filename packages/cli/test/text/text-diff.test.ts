import { expect, it } from 'vitest';
import { textDiff } from '../../src/terminal/text-diff.js';

const shown = (before: string, after: string): string[] =>
  textDiff(before, after).map(({ sign, text }) => `${sign}${text}`);
const numbers = (count: number): string[] => Array.from({ length: count }, (_, index) => String(index));

it('shows removed lines before added ones, with two lines of context', () => {
  expect(shown('a\nb\nc\nd\ne\nf', 'a\nb\nc\nX\ne\nf')).toEqual([' b', ' c', '-d', '+X', ' e', ' f']);
  expect(shown('', '{\n}')).toEqual(['-', '+{', '+}']);
  expect(shown('a', 'a')).toEqual([]);
});

it('marks lines that are omitted between two changes', () => {
  const after = ['first', ...numbers(10).slice(1, 9), 'last'];
  expect(shown(numbers(10).join('\n'), after.join('\n'))).toEqual([
    '-0',
    '+first',
    ' 1',
    ' 2',
    '…',
    ' 7',
    ' 8',
    '-9',
    '+last',
  ]);
});

it('skips the common start and end of a long file', () => {
  const lines = numbers(200_000);
  const after = [...lines.slice(0, 100_000), 'new', ...lines.slice(100_000)];
  expect(shown(lines.join('\n'), after.join('\n'))).toEqual([
    ' 99998',
    ' 99999',
    '+new',
    ' 100000',
    ' 100001',
  ]);
});
