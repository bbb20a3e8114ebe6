/** What is left of a secret where a text was cut off: at its beginning, at its end, and at each ellipsis. */
import { REDACTED } from '../text/redact-shapes.js';
import { writingsOf } from './redact-forms.js';

const CUT = '…';
/** Fewer characters do not give a secret away, and many texts have them. */
const FEWEST = 6;
/** So many letters of a secret are no word any more. */
const LETTERS = 12;

/** So many parts of one text are looked for in the secrets. Of a text that has more of them, what could be one counts. */
const MAX_LOOKS = 50;
const BETWEEN = '\0';

/** Takes such remains of these secrets out of a text; the secrets as a whole are somebody else's matter. */
export function createEndCutter(secrets: Iterable<string>): (text: string) => string {
  const all = [...secrets].flatMap(writingsOf);
  const starts = new Beginnings(all);
  const ends = new Beginnings(all.map(reversed));
  const joined = all.join(BETWEEN);
  const longest = all.reduce((most, { length }) => Math.max(most, length), 0);
  const mayHold = createPieceFilter(all);

  /** Where a beginning of a secret starts that goes on to the end of the text. */
  const cutAt = (part: string): number => {
    for (let at = Math.max(0, part.length - longest + 1); at + FEWEST <= part.length; at += 1)
      if (starts.include(part, at)) return at;
    return part.length;
  };

  /** Where an end of a secret ends that the text begins with. */
  const cutUntil = (part: string): number => {
    const backwards = reversed(part.slice(0, longest - 1));
    for (let at = 0; at + FEWEST <= backwards.length; at += 1)
      if (ends.include(backwards, at)) return backwards.length - at;
    return 0;
  };

  const cut = (part: string, holds: (part: string) => boolean): string => {
    if (part.length < FEWEST) return part;
    if (part.length < longest && isTelling(part) && mayHold(part) && holds(part)) return REDACTED;
    const from = cutUntil(part);
    const to = cutAt(part);
    if (to <= from) return REDACTED;
    return `${from === 0 ? '' : REDACTED}${part.slice(from, to)}${to === part.length ? '' : REDACTED}`;
  };

  return (text) => {
    let looks = 0;
    const holds = (part: string): boolean => {
      looks += 1;
      return looks > MAX_LOOKS || joined.includes(part);
    };
    const parts = text.includes(CUT) ? text.split(CUT) : [text];
    return parts.map((part) => cut(part, holds)).join(CUT);
  };
}

/** The beginnings of many texts, found in a time that hardly grows with their number, however alike they are. */
class Beginnings {
  readonly #sorted: readonly string[];
  readonly #first: ReadonlySet<string>;

  constructor(texts: readonly string[]) {
    this.#sorted = [...texts].sort();
    this.#first = new Set(texts.map((text) => text.slice(0, FEWEST)));
  }

  /** Whether one of them begins with the rest of a text, and goes on. */
  include(text: string, at: number): boolean {
    if (!this.#first.has(text.slice(at, at + FEWEST))) return false;
    const rest = text.slice(at);
    if (!isTelling(rest)) return false;
    // The first one after it: whatever begins with it comes there, side by side.
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
const isTelling = (piece: string): boolean => piece.length >= LETTERS || /[^A-Za-z]/.test(piece);

/** As many as give next to no wrong yes, and not more than a few megabytes. */
const MIN_BITS = 12;
const MAX_BITS = 22;

/** Says no of nearly everything that is in none of them, whatever their number: a text may have thousands of parts. */
function createPieceFilter(secrets: readonly string[]): (part: string) => boolean {
  const count = secrets.reduce((sum, { length }) => sum + length, 0);
  const bits = Math.min(Math.max(Math.ceil(Math.log2(count * 64 + 1)), MIN_BITS), MAX_BITS);
  const seen = new Uint8Array(2 ** bits);
  const placeOf = (text: string, at: number): number => {
    let hash = 0x811c9dc5;
    for (let index = at; index < at + FEWEST; index += 1)
      hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
    return (hash ^ (hash >>> 15)) >>> (32 - bits);
  };
  for (const secret of secrets)
    for (let at = 0; at + FEWEST <= secret.length; at += 1) seen[placeOf(secret, at)] = 1;
  return (part) => {
    for (let at = 0; at + FEWEST <= part.length; at += 1) if (seen[placeOf(part, at)] !== 1) return false;
    return true;
  };
}
