/**
 * Numbers that JavaScript cannot hold, for whoever has to know which number is sent: rules compare it, a person is
 * shown it, the log keeps it. Nearly always there is none, and that costs one look.
 */
import { isRecord } from '../is-record.js';
import { parseJson } from './parse-json.js';
import { replaceNumbers } from './scan-json.js';
import { spelledText } from './spelling.js';

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

/** Stands before a number among texts, and in no text that comes from others: it is not a character. */
const MARK = '\ufdd3';
const MARKED = new RegExp(`"${MARK}(-?[\\d.eE+-]+)"`, 'g');

/** The same value; where a number of it would become another one in JavaScript, that number by its digits. */
export function withExactNumbers<Value extends object>(value: Value): Value {
  return replaced(value, isOther, (text) => new ExactNumber(text));
}

/** The same for people and programs that know only JSON: such a number is a text. */
export function withNumbersAsText<Value extends object>(value: Value): Value {
  return replaced(value, isOther, (text) => text);
}

/** JSON of what `show` makes of a value: the numbers that are left of it are written as they were spelled. */
export function writeShown(value: unknown, show: (value: unknown) => unknown): string | undefined {
  const marked = isRecord(value) ? replaced(value, isForeign, (text) => `${MARK}${text}`) : value;
  const text = JSON.stringify(show(marked));
  return marked === value ? text : text?.replace(MARKED, '$1');
}

function replaced<Value extends object>(
  value: Value,
  isMeant: (text: string) => boolean,
  replace: (text: string) => unknown,
): Value {
  const text = spelledText(value);
  if (text === undefined || text.includes(MARK)) return value;
  let count = 0;
  const marked = replaceNumbers(text, (number) => {
    if (!isMeant(number)) return number;
    count += 1;
    return `"${MARK}${number}"`;
  });
  if (count === 0) return value;
  // It is a copy of the value, made from its own text.
  return unmarked(parseJson(marked), replace) as Value;
}

function unmarked(value: unknown, replace: (text: string) => unknown): unknown {
  if (typeof value === 'string') return value.startsWith(MARK) ? replace(value.slice(MARK.length)) : value;
  if (Array.isArray(value)) return value.map((item) => unmarked(item, replace));
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, unmarked(item, replace)]));
}

const isForeign = (text: string): boolean => String(Number(text)) !== text;

/** Whether JavaScript would make another number of it, not only another spelling. */
const isOther = (text: string): boolean =>
  isForeign(text) && compareNumbers(text, String(Number(text))) !== 0;

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
