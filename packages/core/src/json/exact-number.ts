/**
 * Numbers that JavaScript cannot hold, for whoever has to know which number is sent: rules compare it, a person is
 * shown it, the log keeps it. Nearly always there is none, and that costs one look.
 */
import { randomBytes } from 'node:crypto';
import { isRecord } from '../is-record.js';
import { parseJson } from './parse-json.js';
import { type Replacing, replaceInValue } from './replace-numbers.js';
import { replaceNumbers } from './scan-json.js';
import { atOnce, inSlices, LARGE_TEXT, type Steps } from './slices.js';
import { spelledText } from './spelling.js';
import { headOf } from './text-parts.js';

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

/** Stands before a number among texts: drawn anew each time, of what are no characters, so that no text can feign it. */
const drawMark = (): string =>
  String.fromCharCode(...Array.from(randomBytes(MARK_LENGTH), (byte) => 0xfdd0 + (byte % 32)));
const MARK_LENGTH = 8;

/** The same value; where a number of it would become another one in JavaScript, that number by its digits. */
export const withExactNumbers = <Value extends object>(value: Value): Value => replaced(value, BY_DIGITS);

/** The same; a promise where that would hold up others. The value itself, if it is large and not wanted. */
export function exactNumbers<Value extends object>(
  value: Value,
  isWanted: () => boolean,
): Promise<Value> | Value {
  const text = spelledText(value);
  if (text === undefined) return value;
  const steps = replaceInValue(value, text, BY_DIGITS);
  if (text.length <= LARGE_TEXT) return atOnce(steps);
  return isWanted() ? inSlices(steps) : value;
}

function replaced<Value extends object>(value: Value, replacing: Replacing): Value {
  const text = spelledText(value);
  return text === undefined ? value : atOnce(replaceInValue(value, text, replacing));
}

/** A copy for a person to read: numbers that JavaScript cannot hold are texts, with all their digits. */
export function* withDigits(value: unknown): Steps<unknown> {
  yield;
  if (value instanceof ExactNumber) return value.text;
  if (Array.isArray(value)) {
    const list: unknown[] = [];
    for (const part of value) list.push(isLeaf(part) ? part : yield* withDigits(part));
    return list;
  }
  if (!isRecord(value) || Object.getPrototypeOf(value) !== Object.prototype) return value;
  const entries: Array<[string, unknown]> = [];
  for (const key of Object.keys(value)) {
    const part = value[key];
    entries.push([key, isLeaf(part) ? part : yield* withDigits(part)]);
  }
  return Object.fromEntries(entries);
}

const isLeaf = (value: unknown): boolean => typeof value !== 'object' || value === null;

export interface Shown {
  readonly text: string | undefined;
  /** `show` got only the beginning. */
  readonly isCut: boolean;
}

/**
 * JSON of what `show` makes of a value: the numbers that are left of it are written as they were spelled. Of a value
 * that was spelled in more characters than that, `show` gets the beginning.
 */
export function writeShown(
  value: unknown,
  show: (value: unknown) => unknown,
  maxLength = Number.POSITIVE_INFINITY,
): Shown {
  const spelling = isRecord(value) ? spelledText(value) : undefined;
  const head = spelling === undefined ? undefined : headOf(spelling, maxLength);
  if (head === undefined) return { text: JSON.stringify(show(value)), isCut: false };
  const mark = drawMark();
  const marked = replaceNumbers(head, (number) => (isForeign(number) ? `"${mark}${number}"` : number));
  const shown = JSON.stringify(show(parseJson(marked)));
  const text = shown?.replace(new RegExp(`"${mark}(-?[\\d.eE+-]+)"`, 'g'), '$1');
  return { text, isCut: head !== spelling };
}

const isForeign = (text: string): boolean => String(Number(text)) !== text;

/** So many digits every double holds, and writes again. */
const SAFE_DIGITS = 15;

/** Whether JavaScript would make another number of it, not only another spelling. */
function isOther(text: string): boolean {
  const own = String(Number(text));
  if (own === text || (text.length <= SAFE_DIGITS && !/e/i.test(text))) return false;
  return compareNumbers(text, own) !== 0;
}

const BY_DIGITS: Replacing = { isMeant: isOther, replace: (text) => new ExactNumber(text) };

interface Decimal {
  readonly sign: -1 | 0 | 1;
  /** Without zeros at either end. */
  readonly digits: string;
  /** The number is 0.digits times ten to the power of this. */
  readonly exponent: number;
}

/** Negative, zero or positive, as the first is less than, equal to or more than the second; both as decimals. */
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

/** Behind the last digit that is no zero. */
function endOf(digits: string): number {
  let end = digits.length;
  while (digits[end - 1] === '0') end -= 1;
  return end;
}
