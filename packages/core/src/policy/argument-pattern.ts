/**
 * Patterns for the values of arguments. In an `allow` rule they are strict: a value that is not plain enough
 * to be sure of never fits. In the others they are wide: what might be meant fits too.
 */
import type { ArgumentPattern } from '../config/rule-schema.js';
import { isRecord } from '../is-record.js';
import { compareNumbers, ExactNumber } from '../json/exact-number.js';
import { isAddress, pathsIn, patternsMeant } from './address.js';
import type { DecisionWork } from './decision-work.js';
import { compileGlob, type Glob } from './glob.js';

type Test = (value: unknown) => boolean;
/** With what is left to look at for the decision that it is part of. */
type ArgumentTest = (value: unknown, work: DecisionWork) => boolean;

/** Longer texts are not compared: they open nothing, and every guard takes them. */
const MOST_STRICT = 16_384;
const MOST_WIDE = 1_048_576;
/** How much of a list or object is looked at before a guard takes all of it. */
const MOST_VALUES = 10_000;
const MOST_DEPTH = 100;

/** The test for an `allow`: the value itself, of a plain type. */
export function strictTest(pattern: ArgumentPattern): ArgumentTest {
  const test = compare(pattern, { wide: false });
  const exact = typeof pattern === 'object' && ('equals' in pattern || 'oneOf' in pattern);
  return (value, work) => {
    if (typeof value === 'string')
      return (
        value.length <= MOST_STRICT && work.spend(value.length) && test(value) && (exact || !isTricky(value))
      );
    return (isNumber(value) || typeof value === 'boolean' || value === null) && test(value);
  };
}

/** The test for an `ask` or a `deny`: the value, what it comes to as a path, or anything inside of it. */
export function wideTest(pattern: ArgumentPattern): ArgumentTest {
  const test = compare(pattern, { wide: true });
  const shareLooked = shareLookedAt(pattern);
  const takes = (text: string, work: DecisionWork): boolean =>
    !work.spend(text.length * shareLooked) || test(text);
  const scalar: ArgumentTest = (value, work) => {
    // What a server makes of a number that JavaScript cannot hold may be the nearest that it can.
    if (value instanceof ExactNumber) return test(value) || test(Number(value.text));
    if (typeof value !== 'string') return test(value);
    if (value.length > MOST_WIDE || takes(value, work)) return true;
    const meant = work.meantBy(value);
    return meant === undefined || meant.some((text) => takes(text, work));
  };
  return (value, work) => {
    if (typeof value === 'string') return scalar(value, work);
    if (typeof value !== 'object' || value === null || value instanceof ExactNumber)
      return scalar(value, work);
    let left = MOST_VALUES;
    const look = (part: unknown, depth: number): boolean => {
      left -= 1;
      if (left < 0 || depth > MOST_DEPTH) return true;
      if (part instanceof ExactNumber) return scalar(part, work);
      if (Array.isArray(part)) return part.some((item) => look(item, depth + 1));
      return isRecord(part) ? Object.values(part).some((item) => look(item, depth + 1)) : scalar(part, work);
    };
    return look(value, 0);
  };
}

/** Only a pattern with `?` goes through a text character by character; the others are done at a glance. */
function shareLookedAt(pattern: ArgumentPattern): number {
  const glob = typeof pattern === 'string' ? pattern : 'glob' in pattern ? pattern.glob : '';
  return glob.includes('?') ? 1 + glob.length / 16 : 1 / 64;
}

function compare(pattern: ArgumentPattern, { wide }: { readonly wide: boolean }): Test {
  if (typeof pattern === 'string') {
    const fits = wide ? wideGlob(pattern) : compileGlob(pattern, { crossSlashes: false });
    return (value) => fits(typeof value === 'string' ? value : String(value));
  }
  if ('glob' in pattern) return compare(pattern.glob, { wide });
  const same = (left: unknown, right: unknown): boolean => {
    if (left instanceof ExactNumber) return isNumber(right) && compareNumbers(left.text, String(right)) === 0;
    return wide ? String(left) === String(right) : left === right;
  };
  if ('equals' in pattern) return (value) => same(value, pattern.equals);
  if ('oneOf' in pattern) return (value) => pattern.oneOf.some((one) => same(value, one));
  if ('startsWith' in pattern) return (value) => String(value).startsWith(pattern.startsWith);
  const { greaterThan = -Infinity, lessThan = Infinity } = pattern;
  const isBetween = (text: string): boolean =>
    compareNumbers(text, String(greaterThan)) > 0 && compareNumbers(text, String(lessThan)) < 0;
  return (value) => {
    if (value instanceof ExactNumber) return isBetween(value.text);
    const isAmount = typeof value === 'number' || (wide && typeof value === 'string' && value.trim() !== '');
    if (isAmount && Number(value) > greaterThan && Number(value) < lessThan) return true;
    return wide && typeof value === 'string' && PLAIN_NUMBER.test(value) && isBetween(value);
  };
}

/** Of a length that a number can have; longer texts are none that anybody means. */
const PLAIN_NUMBER = /^\s{0,9}[-+]?\d{1,400}(?:\.\d{1,400})?(?:e[-+]?\d{1,9})?\s{0,9}$/i;

const isNumber = (value: unknown): value is number | ExactNumber =>
  typeof value === 'number' || value instanceof ExactNumber;

/** An address in a pattern is written in the way of those that are compared with it, too; that of a file also as a path. */
function wideGlob(pattern: string): Glob {
  const written = isAddress(pattern) ? patternsMeant(pattern) : [pattern];
  const patterns = new Set(written.flatMap((one) => [one, ...pathsIn(one)]).flatMap(withDirectory));
  const globs = [...patterns].map((one) => compileGlob(one, { crossSlashes: true }));
  const [only] = globs;
  return globs.length === 1 && only !== undefined ? only : (text) => globs.some((glob) => glob(text));
}

/** What is meant by all that is in a directory is the directory, too: whoever lists or deletes it names only that. */
function withDirectory(pattern: string): readonly string[] {
  const directory = pattern.replace(/\/\*+$/, '');
  return directory !== pattern && /[^/*?]/.test(directory) ? [pattern, directory] : [pattern];
}

/**
 * What may be another value to whoever reads it as a path, an address or a command: steps upwards,
 * backslashes, line breaks and other control characters, and the same in percent signs.
 */
export const isTricky = (text: string): boolean =>
  /[\p{Cc}\\]/u.test(text) ||
  /(?:^|\/)\.\.(?:\/|$)/.test(text) ||
  /%(?:25)*(?:[01][0-9a-f]|2e|2f|5c|7f)/i.test(text);
