/**
 * Patterns for argument values. In an `allow` rule they are strict: a value that could be read in more than one way
 * never matches. In `ask` and `deny` rules they are broad: every possible reading of the value is matched.
 */
import type { ArgumentPattern } from '../config/schema/rule-schema.js';
import { compareNumbers, ExactNumber } from '../json/exact-number.js';
import { isRecord } from '../json/is-record.js';
import { compileGlob, type Glob } from '../text/glob.js';
import type { DecisionBudget } from './decision-budget.js';
import { isAddress, pathsIn, possiblePatterns } from './possible-addresses.js';
import { possibleNumber } from './possible-numbers.js';

type Test = (value: unknown) => boolean;
/** Draws on the budget of the decision that it is part of. */
type ArgumentTest = (value: unknown, work: DecisionBudget) => boolean;

/** Longer texts are not compared: they match no `allow`, and every `ask` and `deny`. */
const MAX_STRICT_LENGTH = 16_384;
const MAX_WIDE_LENGTH = 1_048_576;
/** How much of a list or object is searched before `ask` and `deny` rules match it without looking further. */
const MAX_VALUES = 10_000;
const MAX_DEPTH = 100;

/** The test for an `allow`: the value itself, of a primitive type. */
export function strictTest(pattern: ArgumentPattern): ArgumentTest {
  const test = compilePattern(pattern, { wide: false });
  const exact = typeof pattern === 'object' && ('equals' in pattern || 'oneOf' in pattern);
  return (value, work) => {
    if (typeof value === 'string')
      return (
        value.length <= MAX_STRICT_LENGTH &&
        work.spend(value.length) &&
        test(value) &&
        (exact || !isAmbiguousText(value))
      );
    return (isNumber(value) || typeof value === 'boolean' || value === null) && test(value);
  };
}

/** The test for an `ask` or a `deny`: the value, the path it resolves to, or anything inside it. */
export function wideTest(pattern: ArgumentPattern): ArgumentTest {
  const test = compilePattern(pattern, { wide: true });
  const shareLooked = scanCostFactor(pattern);
  const takes = (text: string, work: DecisionBudget): boolean =>
    !work.spend(text.length * shareLooked) || test(text);
  const scalar: ArgumentTest = (value, work) => {
    // A server may round a number that JavaScript cannot represent to the nearest one it can.
    if (value instanceof ExactNumber) return test(value) || test(Number(value.text));
    if (typeof value !== 'string') return test(value);
    if (value.length > MAX_WIDE_LENGTH || takes(value, work)) return true;
    const meant = work.possibleMeanings(value);
    return meant === undefined || meant.some((text) => takes(text, work));
  };
  return (value, work) => {
    if (typeof value === 'string') return scalar(value, work);
    if (typeof value !== 'object' || value === null || value instanceof ExactNumber)
      return scalar(value, work);
    let left = MAX_VALUES;
    const look = (part: unknown, depth: number): boolean => {
      left -= 1;
      if (left < 0 || depth > MAX_DEPTH) return true;
      if (part instanceof ExactNumber) return scalar(part, work);
      if (Array.isArray(part)) return part.some((item) => look(item, depth + 1));
      return isRecord(part) ? Object.values(part).some((item) => look(item, depth + 1)) : scalar(part, work);
    };
    return look(value, 0);
  };
}

/** Only a pattern with `?` is matched character by character; the others are cheap. */
function scanCostFactor(pattern: ArgumentPattern): number {
  const glob = typeof pattern === 'string' ? pattern : 'glob' in pattern ? pattern.glob : '';
  return glob.includes('?') ? 1 + glob.length / 16 : 1 / 64;
}

function compilePattern(pattern: ArgumentPattern, { wide }: { readonly wide: boolean }): Test {
  if (typeof pattern === 'string') {
    const fits = wide ? wideGlob(pattern) : compileGlob(pattern, { crossSlashes: false });
    return (value) => fits(typeof value === 'string' ? value : String(value));
  }
  if ('glob' in pattern) return compilePattern(pattern.glob, { wide });
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
    if (typeof value === 'number') return value > greaterThan && value < lessThan;
    return wide && typeof value === 'string' && mayBeBetween(value, { greaterThan, lessThan, isBetween });
  };
}

interface NumberRange {
  readonly greaterThan: number;
  readonly lessThan: number;
  readonly isBetween: (text: string) => boolean;
}

/** Whether some reader takes a text for a number in this range. */
function mayBeBetween(text: string, { greaterThan, lessThan, isBetween }: NumberRange): boolean {
  const meant = possibleNumber(text);
  if (meant === 'any') return true;
  if (meant === 'Infinity') return lessThan === Infinity;
  if (meant === '-Infinity') return greaterThan === -Infinity;
  return [text, meant ?? text].some((one) => {
    if (one.trim() !== '' && Number(one) > greaterThan && Number(one) < lessThan) return true;
    return PLAIN_NUMBER.test(one) && isBetween(one);
  });
}

/** The maximum length of a number; longer texts are not numbers. */
const PLAIN_NUMBER = /^\s{0,9}[-+]?\d{1,400}(?:\.\d{1,400})?(?:e[-+]?\d{1,9})?\s{0,9}$/i;

const isNumber = (value: unknown): value is number | ExactNumber =>
  typeof value === 'number' || value instanceof ExactNumber;

/**
 * An address in a pattern is also normalized like the addresses it is compared with; a file address also becomes a
 * path.
 */
function wideGlob(pattern: string): Glob {
  const written = isAddress(pattern) ? possiblePatterns(pattern) : [pattern];
  const patterns = new Set(written.flatMap((one) => [one, ...pathsIn(one)]).flatMap(withDirectory));
  const globs = [...patterns].map((one) => compileGlob(one, { crossSlashes: true }));
  const [only] = globs;
  return globs.length === 1 && only !== undefined ? only : (text) => globs.some((glob) => glob(text));
}

/**
 * A pattern for everything in a directory also matches the directory: a call that lists or deletes it names only
 * that.
 */
function withDirectory(pattern: string): readonly string[] {
  const directory = pattern.replace(/\/\*+$/, '');
  return directory !== pattern && /[^/*?]/.test(directory) ? [pattern, directory] : [pattern];
}

/**
 * Values that a reader could interpret differently as a path, an address or a command: parent steps, backslashes,
 * line breaks and other control characters, also percent-encoded.
 */
export const isAmbiguousText = (text: string): boolean =>
  /[\p{Cc}\\]/u.test(text) ||
  /(?:^|\/)\.\.(?:\/|$)/.test(text) ||
  /%(?:25)*(?:[01][0-9a-f]|2e|2f|5c|7f)/i.test(text);
