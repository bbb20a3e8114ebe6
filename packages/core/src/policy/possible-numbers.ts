/** The number that a text may be for a lenient reader: Python takes `1_000`, `inf` and the digits of every script. */
import { trimBlanks } from './blanks.js';

/** Longer texts are not converted. */
const MAX_LENGTH = 1_000;
const NUMBER_LIKE = /^[-+]?[\p{Nd}_.]+(?:e[-+]?[\p{Nd}_]+)?$/iu;
const OTHER_DIGIT = /(?![0-9])\p{Nd}/u;
const UNUSUAL = /_|(?![0-9])\p{Nd}/u;
const INFINITE = /^([-+]?)inf(?:inity)?$/i;

/** As JavaScript writes it; `any` if it may be any number; undefined if the text is not a number. */
export function possibleNumber(text: string): string | 'any' | undefined {
  if (text.length > MAX_LENGTH)
    return UNUSUAL.test(text) && NUMBER_LIKE.test(trimBlanks(text)) ? 'any' : undefined;
  const plain = trimBlanks(text.normalize('NFKC'));
  const infinite = INFINITE.exec(plain);
  if (infinite !== null) return infinite[1] === '-' ? '-Infinity' : 'Infinity';
  if (!NUMBER_LIKE.test(plain)) return undefined;
  return OTHER_DIGIT.test(plain) ? 'any' : plain.replaceAll('_', '');
}
