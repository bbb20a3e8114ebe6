/**
 * Patterns with `*`, `**` and `?`, matched in a time that grows with the text and never explodes: all ways
 * through the pattern are followed at once, and none is tried again. A backslash takes `*`, `?` and itself
 * literally.
 */

export type Glob = (text: string) => boolean;

export interface GlobOptions {
  /** Whether one `*` or `?` may stand for a `/` too; `**` always may. */
  readonly crossSlashes: boolean;
}

/** What the parts of a pattern are, beside texts. */
const ONE = 1;
const RUN = 2;
const ANY_RUN = 3;

type Part = string | typeof ONE | typeof RUN | typeof ANY_RUN;

/** Whether a text fits the pattern as a whole. */
export function compileGlob(pattern: string, { crossSlashes }: GlobOptions): Glob {
  const parts = partsOf(pattern).map((part) => (crossSlashes && part === RUN ? ANY_RUN : part));
  const literal = joined(parts);
  if (literal !== undefined) return (text) => text === literal;
  const [first, last] = [parts[0], parts.at(-1)];
  const start = typeof first === 'string' ? first : '';
  const end = typeof last === 'string' ? last : '';
  const rest =
    parts.includes(ONE) || parts.includes(RUN)
      ? followAll(toProgram(parts, crossSlashes))
      : inOrder(parts.slice(start === '' ? 0 : 1, end === '' ? undefined : -1));
  // Most texts that do not fit are told by their ends.
  return (text) => text.startsWith(start) && text.endsWith(end) && rest(text, start.length, end.length);
}

/** The pattern that fits this text and no other. */
export const escapeGlob = (text: string): string => text.replace(/[\\*?]/g, '\\$&');

/** The one text that the pattern fits; undefined when it fits several. */
export const literalOf = (pattern: string): string | undefined => joined(partsOf(pattern));

/** The same pattern with its text changed as a whole: what stands for others in it stays where it is. */
export function mapPattern(pattern: string, change: (text: string) => string): string {
  // Of the characters that no text has: what is left of them in a text is nobody's sign.
  const text = partsOf(pattern.replace(MARKS, '')).map((part) =>
    typeof part === 'string' ? part : MARK_OF[part],
  );
  return escapeGlob(change(text.join(''))).replace(MARKS, (mark) => SIGN_OF[mark] ?? '');
}

const MARKS = /[\u{fdd0}-\u{fdd2}]/gu;
const MARK_OF = { [ONE]: '\u{fdd0}', [RUN]: '\u{fdd1}', [ANY_RUN]: '\u{fdd2}' } as const;
const SIGN_OF: Readonly<Record<string, string>> = { '\u{fdd0}': '?', '\u{fdd1}': '*', '\u{fdd2}': '**' };

function joined(parts: readonly Part[]): string | undefined {
  return parts.every((part) => typeof part === 'string') ? parts.join('') : undefined;
}

function partsOf(pattern: string): Part[] {
  const parts: Part[] = [];
  for (const [piece] of pattern.matchAll(/\\[\\*?]|\*+|\?|[^\\*?]+|\\/gs)) {
    if (piece === '?') parts.push(ONE);
    else if (piece.startsWith('*')) parts.push(piece.length > 1 ? ANY_RUN : RUN);
    else {
      const text = piece.length === 2 && piece.startsWith('\\') ? piece.slice(1) : piece;
      const before = parts.at(-1);
      if (typeof before === 'string') parts[parts.length - 1] = before + text;
      else parts.push(text);
    }
  }
  return parts;
}

type Rest = (text: string, start: number, end: number) => boolean;

/** Only texts and `**`: each text has to come behind the one before it. */
function inOrder(parts: readonly Part[]): Rest {
  const texts = parts.filter((part) => typeof part === 'string');
  return (text, start, end) => {
    const limit = text.length - end;
    let at = start;
    for (const part of texts) {
      const found = text.indexOf(part, at);
      if (found === -1) return false;
      at = found + part.length;
    }
    return at <= limit;
  };
}

const ANY = -1;
const NO_SLASH = -2;
const ANY_STAR = -3;
const NO_SLASH_STAR = -4;
const SLASH = 0x2f;
/** Before the count of rounds would be more than a mark can hold. */
const MOST_ROUNDS = 2 ** 31;

function toProgram(parts: readonly Part[], crossSlashes: boolean): Int32Array {
  return Int32Array.from(
    parts.flatMap((part) => {
      if (part === ONE) return [crossSlashes ? ANY : NO_SLASH];
      if (part === RUN) return [NO_SLASH_STAR];
      if (part === ANY_RUN) return [ANY_STAR];
      return Array.from({ length: part.length }, (_, index) => part.charCodeAt(index));
    }),
  );
}

/** Keeps the set of places in the pattern that the text so far can have led to. */
function followAll(program: Int32Array): Rest {
  const done = program.length;
  const marks = new Uint32Array(done + 1);
  let [here, next] = [new Uint16Array(done + 1), new Uint16Array(done + 1)];
  let round = 0;
  let count = 0;
  const add = (set: Uint16Array, place: number): void => {
    for (let at = place; marks[at] !== round; at += 1) {
      marks[at] = round;
      set[count] = at;
      count += 1;
      // A run may also be empty: then the place behind it is one too.
      if (at === done || !isStar(program[at])) return;
    }
  };
  return (text) => {
    if (round > MOST_ROUNDS) {
      marks.fill(0);
      round = 0;
    }
    round += 1;
    count = 0;
    add(here, 0);
    for (let index = 0; index < text.length && count > 0; index += 1) {
      const character = text.charCodeAt(index);
      const places = count;
      round += 1;
      count = 0;
      for (let each = 0; each < places; each += 1) {
        const place = here[each] ?? done;
        if (place === done) continue;
        const wanted = program[place] ?? 0;
        if (wanted === ANY_STAR || (wanted === NO_SLASH_STAR && character !== SLASH)) add(next, place);
        else if (wanted === character || wanted === ANY || (wanted === NO_SLASH && character !== SLASH))
          add(next, place + 1);
      }
      [here, next] = [next, here];
    }
    for (let each = 0; each < count; each += 1) if (here[each] === done) return true;
    return false;
  };
}

const isStar = (step: number | undefined): boolean => step === ANY_STAR || step === NO_SLASH_STAR;
