import { expect, it } from 'vitest';
import { showLine } from '../../src/terminal/untrusted-text.js';

it.each([
  ['one\n\t two  ', 100, 'one two'],
  ['\u001b[2Jclear', 100, '\\u{1b}[2Jclear'],
  ['漢字漢字', 6, '漢字…'],
  ['🦀'.repeat(10), 6, '🦀🦀…'],
  ['x'.repeat(200_000), 4, 'xxx…'],
])('%j in %i columns is %j', (text, width, line) => {
  expect(showLine(text, width)).toBe(line);
});
