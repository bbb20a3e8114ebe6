/**
 * Patterns for the values of arguments. In an `allow` rule they are strict: a value that is not plain enough
 * to be sure of never fits. In the others they are wide: what might be meant fits too.
 */
import type { ArgumentPattern } from '../config/rule-schema.js';
import { isRecord } from '../is-record.js';
import { compareNumbers, ExactNumber } from '../json/exact-number.js';
import { addressesMeant, isAddress, patternsMeant } from './address.js';
import { compileGlob, type Glob } from './glob.js';

type Test = (value: unknown) => boolean;

/** Longer texts are not compared: they open nothing, and every guard takes them. */
const MOST_STRICT = 16_384;
const MOST_WIDE = 1_048_576;
/** How much of a list or object is looked at before a guard takes all of it. */
const MOST_VALUES = 10_000;
const MOST_DEPTH = 100;

/** The test for an `allow`: the value itself, of a plain type. */
export function strictTest(pattern: ArgumentPattern): Test {
  const test = compare(pattern, { wide: false });
  const exact = typeof pattern === 'object' && ('equals' in pattern || 'oneOf' in pattern);
  return (value) => {
    if (typeof value === 'string')
      return value.length <= MOST_STRICT && test(value) && (exact || !isTricky(value));
    return (isNumber(value) || typeof value === 'boolean' || value === null) && test(value);
  };
}

/** The test for an `ask` or a `deny`: the value, what it comes to as a path, or anything inside of it. */
export function wideTest(pattern: ArgumentPattern): Test {
  const test = compare(pattern, { wide: true });
  const scalar: Test = (value) => {
    // What a server makes of a number that JavaScript cannot hold may be the nearest that it can.
    if (value instanceof ExactNumber) return test(value) || test(Number(value.text));
    if (typeof value !== 'string') return test(value);
    if (value.length > MOST_WIDE || test(value)) return true;
    const path = pathMeant(value);
    if (path !== value && test(path)) return true;
    if (!isAddress(value)) return false;
    const meant = addressesMeant(value);
    return meant === undefined || meant.some(test);
  };
  return (value) => {
    if (typeof value === 'string') return scalar(value);
    if (typeof value !== 'object' || value === null || value instanceof ExactNumber) return scalar(value);
    let left = MOST_VALUES;
    const look = (part: unknown, depth: number): boolean => {
      left -= 1;
      if (left < 0 || depth > MOST_DEPTH) return true;
      if (part instanceof ExactNumber) return scalar(part);
      if (Array.isArray(part)) return part.some((item) => look(item, depth + 1));
      return isRecord(part) ? Object.values(part).some((item) => look(item, depth + 1)) : scalar(part);
    };
    return look(value, 0);
  };
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

/** An address in a pattern is written in the way of those that are compared with it, too. */
function wideGlob(pattern: string): Glob {
  const patterns = isAddress(pattern) ? patternsMeant(pattern) : [pattern];
  const globs = patterns.map((one) => compileGlob(one, { crossSlashes: true }));
  const [only] = globs;
  return globs.length === 1 && only !== undefined ? only : (text) => globs.some((glob) => glob(text));
}

/**
 * What may be another value to whoever reads it as a path, an address or a command: steps upwards,
 * backslashes, line breaks and other control characters, and the same in percent signs.
 */
export const isTricky = (text: string): boolean =>
  /[\p{Cc}\\]/u.test(text) ||
  /(?:^|\/)\.\.(?:\/|$)/.test(text) ||
  /%(?:25)*(?:[01][0-9a-f]|2e|2f|5c|7f)/i.test(text);

/** The path that a text comes to. The last one is remembered: many rules ask for the same one in a row. */
const pathMeant = ((): ((text: string) => string) => {
  let last = { text: '', path: '' };
  return (text) => {
    if (text !== last.text) {
      const path = toPath(text);
      // The text itself where nothing changed: two that are one and the same are compared at a glance.
      last = { text, path: path === text ? text : path };
    }
    return last.path;
  };
})();

/** What has none of these is the path that it says. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: where it ends for some, and for others not
const CAN_MEAN_ANOTHER = /[\\%\u0000]|\/\/|(?:^|\/)\.\.?(?:\/|$)/;

/** Percent signs decoded, backslashes turned, steps upwards taken. */
function toPath(text: string): string {
  if (!CAN_MEAN_ANOTHER.test(text)) return text;
  const decoded = text
    .replace(/%(?:25)*([0-7][0-9a-f])/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
    .replaceAll('\u0000', '')
    .replaceAll('\\', '/')
    .replace(/^file:\/\/(?:localhost)?(?=\/)/i, '');
  const [, scheme = '', path = ''] = /^([a-z][a-z\d+.-]*:\/\/)?(.*)$/is.exec(decoded) ?? [];
  const kept: string[] = [];
  const parts = path.split('/');
  for (const part of parts) {
    if (part === '..') kept.pop();
    else if (part !== '' && part !== '.') kept.push(part);
  }
  const isDirectory = kept.length > 0 && path.endsWith('/');
  return `${scheme}${path.startsWith('/') ? '/' : ''}${kept.join('/')}${isDirectory ? '/' : ''}`;
}
