/** Parts of JSON text that `JSON.parse` accepted, as they are written there. */
import { endOfString, endsLiteral, isClosingBracket, readKey, skipSpace } from './scan-json.js';

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const OPEN_LIST = 0x5b;
const OPEN_OBJECT = 0x7b;

export interface TextPart {
  /** The key of a member, or the index of an item as text. */
  readonly key: string;
  readonly start: number;
  readonly end: number;
}

/** The members or items of the object or array in the text, one by one. */
export function* partsIn(text: string): Generator<TextPart, void, void> {
  let at = skipSpace(text, 0);
  const isObject = text.charCodeAt(at) === OPEN_OBJECT;
  let count = 0;
  for (at = skipSpace(text, at + 1); !isClosingBracket(text.charCodeAt(at)); at = skipSpace(text, at + 1)) {
    const afterKey = isObject ? endOfString(text, at) : at;
    const key = isObject ? readKey(text, at, afterKey) : String(count);
    const start = isObject ? skipSpace(text, text.indexOf(':', afterKey) + 1) : at;
    const end = endOfValue(text, start);
    yield { key, start, end };
    count += 1;
    at = skipSpace(text, end);
    if (text.charCodeAt(at) !== COMMA) return;
  }
}

/** The same, by key or index. */
export function partsByKey(text: string): Map<string, string> {
  const parts = new Map<string, string>();
  for (const { key, start, end } of partsIn(text)) parts.set(key, text.slice(start, end));
  return parts;
}

/** The position after the value that starts here. */
function endOfValue(text: string, start: number): number {
  let depth = 0;
  for (let at = start; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = endOfString(text, at) - 1;
    else if (code === OPEN_OBJECT || code === OPEN_LIST) depth += 1;
    // The position after a number or literal.
    else if (depth === 0 && endsLiteral(code)) return at;
    else if (isClosingBracket(code)) depth -= 1;
    else continue;
    if (depth === 0) return at + 1;
  }
  return text.length;
}

/**
 * The beginning of the text as valid JSON, hardly longer than the limit: what does not fit is left out, and a string
 * that does not fit is truncated. Reads no further than that.
 */
export function truncateJsonText(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  let closers = '';
  // The position after the last complete value, and the brackets that close everything open around it.
  let end = 0;
  let closing = '';
  for (let at = 0; at < maxLength; at += 1) {
    const code = text.charCodeAt(at);
    if (code === OPEN_OBJECT || code === OPEN_LIST) closers = (code === OPEN_OBJECT ? '}' : ']') + closers;
    else if (isClosingBracket(code)) closers = closers.slice(1);
    else if (code === QUOTE) {
      const after = endOfString(text, at);
      if (text.charCodeAt(skipSpace(text, after)) === COLON) {
        at = after - 1;
        continue;
      }
      if (after > maxLength) return `${text.slice(0, endBeforeEscape(text, maxLength))}"${closers}`;
      at = after - 1;
    } else if (endsLiteral(code) || code === COLON) continue;
    else {
      let after = at + 1;
      while (after < maxLength && !endsLiteral(text.charCodeAt(after))) after += 1;
      if (after === maxLength) break;
      at = after - 1;
    }
    end = at + 1;
    closing = closers;
  }
  return text.slice(0, end) + closing;
}

/** At most this far, and not inside an escape. */
function endBeforeEscape(text: string, max: number): number {
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
