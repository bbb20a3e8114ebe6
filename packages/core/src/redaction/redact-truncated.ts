/** Fragments of a secret where a text was truncated: at its beginning, at its end, and at each ellipsis. */

import { REDACTED } from './redact-shapes.js';
import { plainFormsOf } from './secret-forms.js';

const ELLIPSIS = '…';
/** Fewer characters do not reveal a secret, and are common in texts. */
const MIN_PIECE_LENGTH = 6;
/** This many letters of a secret are no longer a word. */
const MIN_LETTERS = 12;

/**
 * The number of parts of one text that are searched in the secrets. In a text with more, every possible fragment
 * counts.
 */
const MAX_LOOKUPS = 50;
const SEPARATOR = '\0';

/** Removes such fragments of these secrets from a text; whole secrets are handled elsewhere. */
export function createTruncatedRedactor(secrets: Iterable<string>): (text: string) => string {
  const all = [...secrets].flatMap(plainFormsOf);
  const starts = new PrefixIndex(all);
  const ends = new PrefixIndex(all.map(reversed));
  const joined = all.join(SEPARATOR);
  const longest = all.reduce((most, { length }) => Math.max(most, length), 0);
  const mayHold = createPieceFilter(all);

  /** Where a beginning of a secret starts that continues to the end of the text. */
  const cutAt = (part: string): number => {
    for (let at = Math.max(0, part.length - longest + 1); at + MIN_PIECE_LENGTH <= part.length; at += 1)
      if (starts.hasPrefixAt(part, at)) return at;
    return part.length;
  };

  /** Where an end of a secret ends that the text begins with. */
  const cutUntil = (part: string): number => {
    const backwards = reversed(part.slice(0, longest - 1));
    for (let at = 0; at + MIN_PIECE_LENGTH <= backwards.length; at += 1)
      if (ends.hasPrefixAt(backwards, at)) return backwards.length - at;
    return 0;
  };

  const cut = (part: string, holds: (part: string) => boolean): string => {
    if (part.length < MIN_PIECE_LENGTH) return part;
    if (part.length < longest && isDistinctive(part) && mayHold(part) && holds(part)) return REDACTED;
    const from = cutUntil(part);
    const to = cutAt(part);
    if (to <= from) return REDACTED;
    return `${from === 0 ? '' : REDACTED}${part.slice(from, to)}${to === part.length ? '' : REDACTED}`;
  };

  return (text) => {
    let looks = 0;
    const holds = (part: string): boolean => {
      looks += 1;
      return looks > MAX_LOOKUPS || joined.includes(part);
    };
    const parts = text.includes(ELLIPSIS) ? text.split(ELLIPSIS) : [text];
    return parts.map((part) => cut(part, holds)).join(ELLIPSIS);
  };
}

/** The beginnings of many texts, found in a time that hardly depends on their number or similarity. */
class PrefixIndex {
  readonly #sorted: readonly string[];
  readonly #first: ReadonlySet<string>;

  constructor(texts: readonly string[]) {
    this.#sorted = [...texts].sort();
    this.#first = new Set(texts.map((text) => text.slice(0, MIN_PIECE_LENGTH)));
  }

  /** Whether one of them starts with the rest of a text, and continues. */
  hasPrefixAt(text: string, at: number): boolean {
    if (!this.#first.has(text.slice(at, at + MIN_PIECE_LENGTH))) return false;
    const rest = text.slice(at);
    if (!isDistinctive(rest)) return false;
    // The first one after it: everything that starts with it is adjacent.
    let [from, to] = [0, this.#sorted.length];
    while (from < to) {
      const middle = (from + to) >> 1;
      if ((this.#sorted[middle] ?? '') > rest) to = middle;
      else from = middle + 1;
    }
    return this.#sorted[from]?.startsWith(rest) === true;
  }
}

const reversed = (text: string): string => text.split('').reverse().join('');

/** Few letters could be any word. */
const isDistinctive = (piece: string): boolean => piece.length >= MIN_LETTERS || /[^A-Za-z]/.test(piece);

/** Enough for very few false positives, and at most a few megabytes. */
const MIN_BITS = 12;
const MAX_BITS = 22;

/** Rejects nearly everything that is in none of them, whatever their number: a text may have thousands of parts. */
function createPieceFilter(secrets: readonly string[]): (part: string) => boolean {
  const count = secrets.reduce((sum, { length }) => sum + length, 0);
  const bits = Math.min(Math.max(Math.ceil(Math.log2(count * 64 + 1)), MIN_BITS), MAX_BITS);
  const seen = new Uint8Array(2 ** bits);
  const placeOf = (text: string, at: number): number => {
    let hash = 0x811c9dc5;
    for (let index = at; index < at + MIN_PIECE_LENGTH; index += 1)
      hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
    return (hash ^ (hash >>> 15)) >>> (32 - bits);
  };
  for (const secret of secrets)
    for (let at = 0; at + MIN_PIECE_LENGTH <= secret.length; at += 1) seen[placeOf(secret, at)] = 1;
  return (part) => {
    for (let at = 0; at + MIN_PIECE_LENGTH <= part.length; at += 1)
      if (seen[placeOf(part, at)] !== 1) return false;
    return true;
  };
}
