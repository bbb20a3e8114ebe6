/** The parts of JSON text that `JSON.parse` has accepted, as they are written there. */
import { afterSpace, endOfString, endsWord, isClose, keyIn } from './scan-json.js';

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const OPEN_LIST = 0x5b;
const OPEN_OBJECT = 0x7b;

export interface TextPart {
  /** Of a member; the place of an item as text. */
  readonly key: string;
  readonly start: number;
  readonly end: number;
}

/** The members or items of the object or list that the text is, one after the other. */
export function* partsIn(text: string): Generator<TextPart, void, void> {
  let at = afterSpace(text, 0);
  const isObject = text.charCodeAt(at) === OPEN_OBJECT;
  let count = 0;
  for (at = afterSpace(text, at + 1); !isClose(text.charCodeAt(at)); at = afterSpace(text, at + 1)) {
    const afterKey = isObject ? endOfString(text, at) : at;
    const key = isObject ? keyIn(text, at, afterKey) : String(count);
    const start = isObject ? afterSpace(text, text.indexOf(':', afterKey) + 1) : at;
    const end = endOfValue(text, start);
    yield { key, start, end };
    count += 1;
    at = afterSpace(text, end);
    if (text.charCodeAt(at) !== COMMA) return;
  }
}

/** The same by their keys or places. */
export function partsOf(text: string): Map<string, string> {
  const parts = new Map<string, string>();
  for (const { key, start, end } of partsIn(text)) parts.set(key, text.slice(start, end));
  return parts;
}

/** The position behind the value that begins here. */
function endOfValue(text: string, start: number): number {
  let depth = 0;
  for (let at = start; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = endOfString(text, at) - 1;
    else if (code === OPEN_OBJECT || code === OPEN_LIST) depth += 1;
    // Behind a number or a word.
    else if (depth === 0 && endsWord(code)) return at;
    else if (isClose(code)) depth -= 1;
    else continue;
    if (depth === 0) return at + 1;
  }
  return text.length;
}

/**
 * The beginning of the text as JSON of its own, hardly longer than that: what does not fit is left out, a text that
 * does not fit is cut off. Looks at no more than that.
 */
export function headOf(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  let closers = '';
  // Behind the last value that is whole, and what closes all that is open around it.
  let end = 0;
  let closing = '';
  for (let at = 0; at < maxLength; at += 1) {
    const code = text.charCodeAt(at);
    if (code === OPEN_OBJECT || code === OPEN_LIST) closers = (code === OPEN_OBJECT ? '}' : ']') + closers;
    else if (isClose(code)) closers = closers.slice(1);
    else if (code === QUOTE) {
      const after = endOfString(text, at);
      if (text.charCodeAt(afterSpace(text, after)) === COLON) {
        at = after - 1;
        continue;
      }
      if (after > maxLength) return `${text.slice(0, wholeUntil(text, maxLength))}"${closers}`;
      at = after - 1;
    } else if (endsWord(code) || code === COLON) continue;
    else {
      let after = at + 1;
      while (after < maxLength && !endsWord(text.charCodeAt(after))) after += 1;
      if (after === maxLength) break;
      at = after - 1;
    }
    end = at + 1;
    closing = closers;
  }
  return text.slice(0, end) + closing;
}

/** At most so far, and not inside of an escape. */
function wholeUntil(text: string, max: number): number {
  // The longest escape has six characters.
  for (let at = max - 1; at >= max - 6; at -= 1) {
    if (text.charCodeAt(at) !== BACKSLASH) continue;
    let before = at;
    while (text.charCodeAt(before - 1) === BACKSLASH) before -= 1;
    const isEscape = (at - before) % 2 === 0;
    const length = text[at + 1] === 'u' ? 6 : 2;
    return isEscape && at + length > max ? at : max;
  }
  return max;
}
