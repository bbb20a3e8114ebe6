/** Unclear phrases that were removed do not return: on pages, in messages, in help. */
import { expect, it } from 'vitest';
import { listFiles, readText, withoutComments } from './repository.js';

/** The plain text, and a pattern of the unclear one. */
const PLAIN: Readonly<Record<string, RegExp>> = {
  'requires authentication': /wants to know who asks/i,
  'agent calls require approval': /(agents|calls of agents|its calls|every call) (are|is) asked for/i,
  'Token "x" revoked.': /good for nothing any ?more/i,
  'This token is unknown, expired or revoked.': /not good, or not any ?more/i,
  '(untrusted)': /whose word is not trusted/i,
  'x is no longer pinned': /\bLet go of \$/,
  'If …': /(^|[.:] )Is the [a-z]+ elsewhere,/m,
  'one full stop': /\?\.(?=['"`]|$)/m,
  'does not support dynamic client registration': /take programs that it does not know/i,
};

const pages = listFiles('', /\.md$/).filter((page) => !page.startsWith('docs/decisions/'));
const sources = listFiles('packages', /\.ts$/).filter((file) => /\/src\//.test(file));

it.each(Object.entries(PLAIN))('%s', (_plain, phrase) => {
  expect(pages.filter((page) => phrase.test(readText(page)))).toEqual([]);
  expect(sources.filter((file) => phrase.test(withoutComments(readText(file))))).toEqual([]);
});
