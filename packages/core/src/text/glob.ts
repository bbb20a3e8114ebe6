/**
 * Patterns with `*`, `**` and `?`. Matching never backtracks: all paths through the pattern are followed in
 * parallel. A backslash escapes `*`, `?` and itself.
 */

export type Glob = (text: string) => boolean;

export interface GlobOptions {
  /** Whether `*` and `?` also match `/`; `**` always does. */
  readonly crossSlashes: boolean;
}

/** The special parts of a pattern. */
const ANY_CHARACTER = 1;
const ANY_IN_SEGMENT = 2;
const ANY_ACROSS_SEGMENTS = 3;

type Part = string | typeof ANY_CHARACTER | typeof ANY_IN_SEGMENT | typeof ANY_ACROSS_SEGMENTS;

/** Whether the pattern matches the whole text. */
export function compileGlob(pattern: string, { crossSlashes }: GlobOptions): Glob {
  const parts = partsOf(pattern).map((part) =>
    crossSlashes && part === ANY_IN_SEGMENT ? ANY_ACROSS_SEGMENTS : part,
  );
  const literal = literalText(parts);
  if (literal !== undefined) return (text) => text === literal;
  const [first, last] = [parts[0], parts.at(-1)];
  const start = typeof first === 'string' ? first : '';
  const end = typeof last === 'string' ? last : '';
  const rest =
    parts.includes(ANY_CHARACTER) || parts.includes(ANY_IN_SEGMENT)
      ? simulate(toProgram(parts, crossSlashes))
      : matchInOrder(parts.slice(start === '' ? 0 : 1, end === '' ? undefined : -1));
  // Most texts that do not match are rejected by their ends.
  return (text) => text.startsWith(start) && text.endsWith(end) && rest(text, start.length, end.length);
}

/** The steps for each character of a text, where `*` and `?` also match `/`; nearly none without a `?`. */
export const globCost = (pattern: string): number =>
  partsOf(pattern).includes(ANY_CHARACTER) ? pattern.length : 0;

/**
 * Matching with this many steps in all takes about 100 ms. Beyond it the answer is a guess, on the side of the
 * stricter decision: nobody needs as many patterns of that kind.
 */
export const MAX_GLOB_STEPS = 8_000_000;

/** The pattern that matches exactly this text. */
export const escapeGlob = (text: string): string => text.replace(/[\\*?]/g, '\\$&');

/** The only text that the pattern matches; undefined if it matches several. */
export const literalOf = (pattern: string): string | undefined => literalText(partsOf(pattern));

/** Applies a change to the literal text of the pattern; its wildcards stay where they are. */
export function mapPattern(pattern: string, change: (text: string) => string): string {
  // Private marks for the wildcards. The same characters in a text are dropped, so that they cannot forge one.
  const text = partsOf(pattern.replace(MARKS, '')).map((part) =>
    typeof part === 'string' ? part : MARK_OF[part],
  );
  return escapeGlob(change(text.join(''))).replace(MARKS, (mark) => SIGN_OF[mark] ?? '');
}

const MARKS = /[\u{fdd0}-\u{fdd2}]/gu;
const MARK_OF = {
  [ANY_CHARACTER]: '\u{fdd0}',
  [ANY_IN_SEGMENT]: '\u{fdd1}',
  [ANY_ACROSS_SEGMENTS]: '\u{fdd2}',
} as const;
const SIGN_OF: Readonly<Record<string, string>> = { '\u{fdd0}': '?', '\u{fdd1}': '*', '\u{fdd2}': '**' };

function literalText(parts: readonly Part[]): string | undefined {
  return parts.every((part) => typeof part === 'string') ? parts.join('') : undefined;
}

function partsOf(pattern: string): Part[] {
  const parts: Part[] = [];
  for (const [piece] of pattern.matchAll(/\\[\\*?]|\*+|\?|[^\\*?]+|\\/gs)) {
    if (piece === '?') parts.push(ANY_CHARACTER);
    else if (piece.startsWith('*')) parts.push(piece.length > 1 ? ANY_ACROSS_SEGMENTS : ANY_IN_SEGMENT);
    else {
      const text = piece.length === 2 && piece.startsWith('\\') ? piece.slice(1) : piece;
      const before = parts.at(-1);
      if (typeof before === 'string') parts[parts.length - 1] = before + text;
      else parts.push(text);
    }
  }
  return parts;
}

type Matcher = (text: string, start: number, end: number) => boolean;

/** For patterns of literal texts and `**` only: each text has to follow the one before it. */
function matchInOrder(parts: readonly Part[]): Matcher {
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
/** Resets before the round counter overflows a mark. */
const MAX_ROUNDS = 2 ** 31;

function toProgram(parts: readonly Part[], crossSlashes: boolean): Int32Array {
  return Int32Array.from(
    parts.flatMap((part) => {
      if (part === ANY_CHARACTER) return [crossSlashes ? ANY : NO_SLASH];
      if (part === ANY_IN_SEGMENT) return [NO_SLASH_STAR];
      if (part === ANY_ACROSS_SEGMENTS) return [ANY_STAR];
      return Array.from({ length: part.length }, (_, index) => part.charCodeAt(index));
    }),
  );
}

/** The set of positions in the pattern that the text read so far can have reached. */
function simulate(program: Int32Array): Matcher {
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
      // A wildcard may match nothing: the position after it is reached too.
      if (at === done || !isStar(program[at])) return;
    }
  };
  return (text) => {
    if (round > MAX_ROUNDS) {
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
