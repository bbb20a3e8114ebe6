/**
 * Numbers that JavaScript cannot represent exactly, for code that needs the exact value: rules compare it, a person
 * sees it, the log stores it. Usually there are none, which costs one check.
 */
import { randomBytes } from 'node:crypto';
import { isRecord } from './is-record.js';
import { losslessText } from './lossless-json.js';
import { parseJson } from './parse-json.js';
import { type NumberReplacement, replaceInValue } from './replace-numbers.js';
import { replaceNumbers } from './scan-json.js';
import { inSlices, LARGE_TEXT_LENGTH, runToEnd, type Steps } from './slices.js';
import { truncateJsonText } from './text-parts.js';

/** A number by its digits. */
export class ExactNumber {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  toString(): string {
    return this.text;
  }
}

/** Marks a number among texts: random, made of noncharacters, so that no text can imitate it. */
const randomMark = (): string =>
  String.fromCharCode(...Array.from(randomBytes(MARK_LENGTH), (byte) => 0xfdd0 + (byte % 32)));
const MARK_LENGTH = 8;

/** The same value, with each number that JavaScript would change represented by its digits. */
export const withExactNumbers = <Value extends object>(value: Value): Value =>
  replaceNumbersIn(value, TO_EXACT_NUMBER);

/** The same; a promise if it would block the event loop. Returns the value itself if it is large and not wanted. */
export function exactNumbers<Value extends object>(
  value: Value,
  isWanted: () => boolean,
): Promise<Value> | Value {
  const text = losslessText(value);
  if (text === undefined) return value;
  const steps = replaceInValue(value, text, TO_EXACT_NUMBER);
  if (text.length <= LARGE_TEXT_LENGTH) return runToEnd(steps);
  return isWanted() ? inSlices(steps) : value;
}

function replaceNumbersIn<Value extends object>(value: Value, replacing: NumberReplacement): Value {
  const text = losslessText(value);
  return text === undefined ? value : runToEnd(replaceInValue(value, text, replacing));
}

/** A copy for a person to read: numbers that JavaScript cannot represent become texts with all their digits. */
export function* withNumbersAsText(value: unknown): Steps<unknown> {
  yield;
  if (value instanceof ExactNumber) return value.text;
  if (Array.isArray(value)) {
    const list: unknown[] = [];
    for (const part of value) list.push(isLeaf(part) ? part : yield* withNumbersAsText(part));
    return list;
  }
  if (!isRecord(value) || Object.getPrototypeOf(value) !== Object.prototype) return value;
  const entries: Array<[string, unknown]> = [];
  for (const key of Object.keys(value)) {
    const part = value[key];
    entries.push([key, isLeaf(part) ? part : yield* withNumbersAsText(part)]);
  }
  return Object.fromEntries(entries);
}

const isLeaf = (value: unknown): boolean => typeof value !== 'object' || value === null;

export interface TransformedJson {
  readonly text: string | undefined;
  /** `show` received only the beginning. */
  readonly isTruncated: boolean;
}

/**
 * The JSON of what `show` makes of a value, with the remaining numbers in their original notation. If the value's
 * text is longer than the limit, `show` gets only its beginning.
 */
export function writeTransformed(
  value: unknown,
  show: (value: unknown) => unknown,
  maxLength = Number.POSITIVE_INFINITY,
): TransformedJson {
  const spelling = isRecord(value) ? losslessText(value) : undefined;
  const head = spelling === undefined ? undefined : truncateJsonText(spelling, maxLength);
  if (head === undefined) return { text: JSON.stringify(show(value)), isTruncated: false };
  const mark = randomMark();
  const marked = replaceNumbers(head, (number) => (isNonCanonical(number) ? `"${mark}${number}"` : number));
  const shown = JSON.stringify(show(parseJson(marked)));
  const text = shown?.replace(new RegExp(`"${mark}(-?[\\d.eE+-]+)"`, 'g'), '$1');
  return { text, isTruncated: head !== spelling };
}

const isNonCanonical = (text: string): boolean => String(Number(text)) !== text;

/** Every double preserves this many digits. */
const SAFE_DIGITS = 15;

/** Whether JavaScript would change the number itself, not only its notation. */
function losesPrecision(text: string): boolean {
  const own = String(Number(text));
  if (own === text || (text.length <= SAFE_DIGITS && !/e/i.test(text))) return false;
  return compareNumbers(text, own) !== 0;
}

const TO_EXACT_NUMBER: NumberReplacement = {
  matches: losesPrecision,
  replace: (text) => new ExactNumber(text),
};

interface Decimal {
  readonly sign: -1 | 0 | 1;
  /** Without leading and trailing zeros. */
  readonly digits: string;
  /** The number is 0.digits times ten to the power of this. */
  readonly exponent: number;
}

/** Negative, zero or positive, if the first is less than, equal to or greater than the second; both as decimals. */
export function compareNumbers(left: string, right: string): number {
  const [one, other] = [toDecimal(left), toDecimal(right)];
  if (one.sign !== other.sign) return one.sign - other.sign;
  if (one.sign === 0) return 0;
  if (one.exponent !== other.exponent) return one.sign * Math.sign(one.exponent - other.exponent);
  if (one.digits === other.digits) return 0;
  return one.sign * (one.digits < other.digits ? -1 : 1);
}

function toDecimal(text: string): Decimal {
  if (/Infinity$/.test(text))
    return { sign: text.startsWith('-') ? -1 : 1, digits: '1', exponent: Number.POSITIVE_INFINITY };
  const [, minus = '', whole = '', part = '', power = '0'] =
    /^\s*([-+]?)(\d*)\.?(\d*)(?:e([-+]?\d+))?\s*$/i.exec(text) ?? [];
  const all = whole + part;
  const digits = all.replace(/^0+/, '');
  if (digits === '') return { sign: 0, digits: '', exponent: 0 };
  return {
    sign: minus === '-' ? -1 : 1,
    digits: digits.slice(0, endOf(digits)),
    exponent: Number(power) + whole.length - (all.length - digits.length),
  };
}

/** After the last nonzero digit. */
function endOf(digits: string): number {
  let end = digits.length;
  while (digits[end - 1] === '0') end -= 1;
  return end;
}
