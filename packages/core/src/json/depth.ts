/** Determines the nesting depth of JSON, from its text or from a value, before recursive code processes it. */
import { endOfString } from './scan-json.js';

/**
 * The maximum depth of JSON from outside, whatever is configured: everything that reads or writes it recursively,
 * including `JSON.stringify`, has enough stack for this many levels.
 */
export const MAX_JSON_DEPTH = 512;

const QUOTE = 0x22;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/**
 * True if more than this many brackets are open at the same time. Short texts, and texts with few brackets, are free.
 */
export function isTextDeeperThan(text: string, max = MAX_JSON_DEPTH): boolean {
  if (text.length <= 2 * max || !hasMoreBrackets(text, max)) return false;
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = endOfString(text, at) - 1;
    else if (code === OPEN_OBJECT || code === OPEN_LIST) {
      depth += 1;
      if (depth > max) return true;
    } else if (code === CLOSE_OBJECT || code === CLOSE_LIST) depth -= 1;
  }
  return false;
}

/** Brackets inside strings count too; that only means that the text is checked more closely. */
function hasMoreBrackets(text: string, max: number): boolean {
  let count = 0;
  for (const bracket of '{[')
    for (let at = text.indexOf(bracket); at !== -1; at = text.indexOf(bracket, at + 1)) {
      count += 1;
      if (count > max) return true;
    }
  return false;
}

/** The same for a value: nested objects and arrays. Stops at the limit, so cycles end too. */
export function isDeeperThan(value: unknown, max = MAX_JSON_DEPTH): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (max <= 0) return true;
  if (Array.isArray(value)) {
    for (const item of value)
      if (typeof item === 'object' && item !== null && isDeeperThan(item, max - 1)) return true;
    return false;
  }
  for (const key in value) {
    const part: unknown = Reflect.get(value, key);
    if (typeof part === 'object' && part !== null && isDeeperThan(part, max - 1)) return true;
  }
  return false;
}
