/** Estimates the memory of parsed JSON from its text, before it is parsed. */
import { inSlices, LARGE_TEXT_LENGTH, runToEnd, type Steps } from './slices.js';

/** The maximum number of values in what a client sends; each is processed several times. */
export const MAX_CLIENT_PARTS = 250_000;

/**
 * A value takes up to twenty times the memory of its text, depending on its parts: the most expensive ones take about
 * 170 bytes, most less than 40.
 */
const BYTES_PER_PART = 64;
/** For the most expensive texts, such as `{},{},`. */
const PARTS_PER_CHARACTER = 2 / 3;
/** Not scanned: the request itself takes as much as the maximum for its text. */
const SHORT_TEXT_LENGTH = 512;
const CHARACTERS_PER_STEP = 8_192;

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const OPEN_LIST = 0x5b;
const OPEN_OBJECT = 0x7b;

/**
 * About how many bytes the parsed value occupies; never less than the text has characters. It stops counting at the
 * limit on values: larger texts are rejected anyway. Returns a promise only for large texts.
 */
export function estimateJsonMemory(text: string): Promise<number> | number {
  const { length } = text;
  if (length <= SHORT_TEXT_LENGTH) return Math.ceil(length * (1 + PARTS_PER_CHARACTER * BYTES_PER_PART));
  return length > LARGE_TEXT_LENGTH ? inSlices(estimateSteps(text)) : runToEnd(estimateSteps(text));
}

function* estimateSteps(text: string): Steps<number> {
  let parts = 0;
  let left = CHARACTERS_PER_STEP;
  let isInString = false;
  for (let at = 0; at < text.length && parts < MAX_CLIENT_PARTS; at += 1) {
    const code = text.charCodeAt(at);
    if (isInString) {
      if (code === BACKSLASH) at += 1;
      else isInString = code !== QUOTE;
    } else if (code === QUOTE) {
      isInString = true;
      at = skipPlainString(text, at);
    } else if (code === COMMA || code === OPEN_LIST || code === OPEN_OBJECT) parts += 1;
    left -= 1;
    if (left > 0) continue;
    left = CHARACTERS_PER_STEP;
    yield;
  }
  // One character beyond Latin-1 makes all of them take two bytes.
  const bytes = Buffer.byteLength(text) > text.length ? 2 * text.length : text.length;
  return bytes + parts * BYTES_PER_PART;
}

/** Strings without escapes, which are most, are skipped; others are scanned in full. */
function skipPlainString(text: string, open: number): number {
  const quote = text.indexOf('"', open + 1);
  if (quote === -1) return text.length;
  return text.charCodeAt(quote - 1) === BACKSLASH ? open : quote - 1;
}
