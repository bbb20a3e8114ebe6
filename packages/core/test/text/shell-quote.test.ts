import { execFileSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { shellQuote } from '../../src/text/shell-quote.js';

it.each(['plain', 'a/b.c:d@e%f+g,h-i', 'two words', "it's", '$(whoami)', '`id`', '', '*', 'a\nb', '"', '\\'])(
  'a shell reads %j as one word',
  (word) => {
    const printed = execFileSync('sh', ['-c', `printf '%s|' ${shellQuote(word)}`], { encoding: 'utf8' });
    expect(printed).toBe(`${word}|`);
  },
);

it('leaves a plain word as it is', () => {
  expect(shellQuote('a/b.c:d@e%f+g,h-i')).toBe('a/b.c:d@e%f+g,h-i');
});
