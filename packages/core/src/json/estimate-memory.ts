/** What JSON takes in memory once it is read, told from its text before it is. */
import { atOnce, inSlices, LARGE_TEXT, type Steps } from './slices.js';

/** Of what a client sends; each part is looked at several times on its way. */
export const MAX_PARTS_SENT = 250_000;

/**
 * A value takes up to twenty times the memory of its text, by its parts: those of the dearest take some 170 bytes, most
 * less than 40.
 */
const BYTES_OF_PART = 64;
/** In the dearest texts, such as `{},{},`. */
const PARTS_OF_CHARACTER = 2 / 3;
/** Not looked through: the request itself takes as much as the most that its text can come to. */
const SHORT = 512;
const STEP = 8_192;

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const OPEN_LIST = 0x5b;
const OPEN_OBJECT = 0x7b;

/**
 * About how many bytes are held as long as the value is that is read from this text; never less than it has
 * characters. It counts no more parts than are read: whatever has more is refused then. A promise only where it is large.
 */
export function weighJson(text: string): Promise<number> | number {
  const { length } = text;
  if (length <= SHORT) return Math.ceil(length * (1 + PARTS_OF_CHARACTER * BYTES_OF_PART));
  return length > LARGE_TEXT ? inSlices(weighSteps(text)) : atOnce(weighSteps(text));
}

function* weighSteps(text: string): Steps<number> {
  let parts = 0;
  let left = STEP;
  let isInString = false;
  for (let at = 0; at < text.length && parts < MAX_PARTS_SENT; at += 1) {
    const code = text.charCodeAt(at);
    if (isInString) {
      if (code === BACKSLASH) at += 1;
      else isInString = code !== QUOTE;
    } else if (code === QUOTE) {
      isInString = true;
      at = plainUntil(text, at);
    } else if (code === COMMA || code === OPEN_LIST || code === OPEN_OBJECT) parts += 1;
    left -= 1;
    if (left > 0) continue;
    left = STEP;
    yield;
  }
  // One character beyond Latin-1, and all of them take two bytes.
  const bytes = Buffer.byteLength(text) > text.length ? 2 * text.length : text.length;
  return bytes + parts * BYTES_OF_PART;
}

/** Most strings have no escape: those are skipped. Of the others nothing is. */
function plainUntil(text: string, open: number): number {
  const quote = text.indexOf('"', open + 1);
  if (quote === -1) return text.length;
  return text.charCodeAt(quote - 1) === BACKSLASH ? open : quote - 1;
}
