/** One pass over JSON text that `JSON.parse` accepted, for facts that `JSON.parse` does not report. */

import { runToEnd, type Steps } from './slices.js';

export interface JsonScan {
  /** A duplicate key in an object: two parsers may read different values. */
  readonly duplicateKey?: string;
  /** A number is not written as JavaScript would write it: `1.0`, or one with 20 digits. */
  readonly hasNonCanonicalNumber: boolean;
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const MINUS = 0x2d;
const ZERO = 0x30;
const NINE = 0x39;
const BACKSLASH = 0x5c;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
/** Deeper nesting is left to the scan, which needs no stack. */
const MAX_COUNT_DEPTH = 100;
const CHARACTERS_PER_STEP = 8_192;
/** Every double preserves this many digits. */
const SAFE_DIGITS = 15;

export const scanJson = (text: string): JsonScan => runToEnd(scanSteps(text));

/** The same, in steps. */
export function* scanSteps(text: string): Steps<JsonScan> {
  // The keys of each open object; undefined for an array.
  const open: (Set<string> | undefined)[] = [];
  let keys: Set<string> | undefined;
  let isKeyNext = false;
  let hasNonCanonicalNumber = false;
  for (let at = 0, left = CHARACTERS_PER_STEP; at < text.length; at += 1, left -= 1) {
    if (left === 0) {
      left = CHARACTERS_PER_STEP;
      yield;
    }
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      const end = endOfString(text, at);
      if (isKeyNext && keys !== undefined) {
        const key = readKey(text, at, end);
        if (keys.has(key)) return { duplicateKey: key, hasNonCanonicalNumber };
        keys.add(key);
        isKeyNext = false;
      }
      at = end - 1;
    } else if (code === COMMA) {
      isKeyNext = keys !== undefined;
    } else if (code === OPEN_OBJECT || code === OPEN_LIST) {
      isKeyNext = code === OPEN_OBJECT;
      keys = isKeyNext ? new Set() : undefined;
      open.push(keys);
    } else if (isClosingBracket(code)) {
      open.pop();
      keys = open[open.length - 1];
      isKeyNext = false;
    } else if (code === MINUS || (code >= ZERO && code <= NINE)) {
      const end = endOfNumber(text, at);
      hasNonCanonicalNumber ||= isNonCanonical(text, at, end);
      at = end - 1;
    }
  }
  return { hasNonCanonicalNumber };
}

/**
 * True only if no object in the text has a duplicate key: as many keys were parsed as there are quotes before colons.
 * Fast; a text with such quotes inside its strings has to be scanned.
 */
export function hasUniqueKeys(text: string, read: unknown): boolean {
  let most = 0;
  for (let at = text.indexOf(':'); at !== -1; at = text.indexOf(':', at + 1)) {
    let before = at - 1;
    while (isSpace(text.charCodeAt(before))) before -= 1;
    if (text.charCodeAt(before) === QUOTE) most += 1;
  }
  return countKeys(read, MAX_COUNT_DEPTH) === most;
}

/** NaN, which equals nothing, if the value is nested too deeply to count. */
function countKeys(value: unknown, levels: number): number {
  if (typeof value !== 'object' || value === null) return 0;
  if (levels === 0) return Number.NaN;
  let count = 0;
  if (Array.isArray(value)) {
    for (const item of value) count += countKeys(item, levels - 1);
    return count;
  }
  for (const key in value) count += 1 + countKeys(Reflect.get(value, key), levels - 1);
  return count;
}

/** The same text with its numbers replaced. */
export function replaceNumbers(text: string, replace: (number: string) => string): string {
  let result = '';
  let done = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = endOfString(text, at) - 1;
    else if (code === MINUS || (code >= ZERO && code <= NINE)) {
      const end = endOfNumber(text, at);
      result += text.slice(done, at) + replace(text.slice(at, end));
      done = end;
      at = end - 1;
    }
  }
  return result + text.slice(done);
}

export function skipSpace(text: string, from: number): number {
  let at = from;
  while (isSpace(text.charCodeAt(at))) at += 1;
  return at;
}

export const readKey = (text: string, at: number, end: number): string => {
  const inside = text.slice(at + 1, end - 1);
  return inside.includes('\\') ? JSON.parse(`"${inside}"`) : inside;
};

/** The position after the closing quote of the string that opens here. */
export function endOfString(text: string, open: number): number {
  for (let at = text.indexOf('"', open + 1); at !== -1; at = text.indexOf('"', at + 1)) {
    let before = at - 1;
    while (text.charCodeAt(before) === BACKSLASH) before -= 1;
    if ((at - before) % 2 === 1) return at + 1;
  }
  return text.length;
}

export function endOfNumber(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && !endsLiteral(text.charCodeAt(at))) at += 1;
  return at;
}

export const isClosingBracket = (code: number): boolean => code === CLOSE_OBJECT || code === CLOSE_LIST;

export const endsLiteral = (code: number): boolean =>
  code === COMMA || isClosingBracket(code) || isSpace(code);

function isNonCanonical(text: string, start: number, end: number): boolean {
  let isPlain = end - start <= SAFE_DIGITS && text.charCodeAt(start) !== MINUS;
  for (let at = start; isPlain && at < end; at += 1) {
    const code = text.charCodeAt(at);
    isPlain = code >= ZERO && code <= NINE;
  }
  if (isPlain) return false;
  const literal = text.slice(start, end);
  return String(Number(literal)) !== literal;
}

const isSpace = (code: number): boolean => code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;
