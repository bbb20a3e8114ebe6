/**
 * A short text that matches a regular expression, made by reading the pattern and never by matching it: a hostile
 * pattern could take forever. Gives up on what it does not know (look-around, back-references, properties).
 */

const MAX_PATTERN_LENGTH = 512;
const MAX_LENGTH = 4_096;
const MAX_DEPTH = 24;
const MAX_STEPS = 5_000;

/** Whoever throws this gives up on one attempt. */
class Unsupported extends Error {}

interface Reader {
  readonly pattern: string;
  readonly random: () => number;
  index: number;
  steps: number;
}

/** A text that should match the pattern; undefined if it is too unusual. */
export function samplePattern(pattern: string, random: () => number): string | undefined {
  if (pattern.length > MAX_PATTERN_LENGTH) return undefined;
  const reader: Reader = { pattern, random, index: 0, steps: 0 };
  try {
    const text = readAlternatives(reader, 0);
    return reader.index === pattern.length ? text : undefined;
  } catch (thrown) {
    if (thrown instanceof Unsupported) return undefined;
    throw thrown;
  }
}

/** One of `a|b|c`. All are read, one is returned. */
function readAlternatives(reader: Reader, depth: number): string {
  if (depth > MAX_DEPTH) throw new Unsupported();
  const texts = [readSequence(reader, depth)];
  while (reader.pattern[reader.index] === '|') {
    reader.index += 1;
    texts.push(readSequence(reader, depth));
  }
  return pick(texts, reader.random) ?? '';
}

function readSequence(reader: Reader, depth: number): string {
  let text = '';
  while (reader.index < reader.pattern.length) {
    const next = reader.pattern[reader.index];
    if (next === '|' || next === ')') break;
    const start = reader.index;
    const item = readItem(reader, depth);
    const end = reader.index;
    const [least, most] = readQuantifier(reader);
    const after = reader.index;
    text += repeat(reader, { item, start, end, depth, count: countFrom(least, most, reader.random) });
    reader.index = after;
    if (text.length > MAX_LENGTH) throw new Unsupported();
  }
  return text;
}

/** Each repetition is read again, so that it may differ: `(a|b){2}` has four results. */
function repeat(
  reader: Reader,
  {
    item,
    start,
    end,
    depth,
    count,
  }: { item: string; start: number; end: number; depth: number; count: number },
): string {
  let text = count === 0 ? '' : item;
  for (let done = 1; done < count; done += 1) {
    if (text.length > MAX_LENGTH) throw new Unsupported();
    reader.index = start;
    text += readItem(reader, depth);
    if (reader.index !== end) throw new Unsupported();
  }
  return text;
}

const countFrom = (least: number, most: number, random: () => number): number =>
  Math.min(most, least + (random() < 0.5 ? 0 : Math.floor(random() * 4)));

function readItem(reader: Reader, depth: number): string {
  reader.steps += 1;
  if (reader.steps > MAX_STEPS) throw new Unsupported();
  const character = codePointAt(reader);
  reader.index += character.length;
  switch (character) {
    case '^':
    case '$':
      return '';
    case '(':
      return readGroup(reader, depth);
    case '[':
      return readClass(reader);
    case '\\':
      return readEscape(reader);
    case '.':
      return 'a';
    case '*':
    case '+':
    case '?':
    case '{':
      throw new Unsupported();
    default:
      return character;
  }
}

const codePointAt = ({ pattern, index }: Reader): string =>
  String.fromCodePoint(pattern.codePointAt(index) ?? 0);

function readGroup(reader: Reader, depth: number): string {
  const head = /^\?(?::|<[A-Za-z_]\w*>)/.exec(reader.pattern.slice(reader.index, reader.index + 64))?.[0];
  if (head === undefined && reader.pattern[reader.index] === '?') throw new Unsupported();
  reader.index += head?.length ?? 0;
  const text = readAlternatives(reader, depth + 1);
  if (reader.pattern[reader.index] !== ')') throw new Unsupported();
  reader.index += 1;
  return text;
}

const CLASSES: Readonly<Record<string, string>> = {
  d: '0123456789',
  D: 'ab-_',
  w: 'abcdefgh0123456789_',
  W: '-. ',
  s: ' ',
  S: 'abc123',
};
const LITERAL_ESCAPES: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', f: '\f', v: '\v' };
/** Where a class allows "everything but": these are tried in order. */
const ORDINARY = 'abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ-_ .,:/@#!+=~';

function readEscape(reader: Reader): string {
  const letter = reader.pattern[reader.index] ?? '';
  reader.index += 1;
  if (letter === 'b' || letter === 'B') return '';
  return pick(escapedCharacters(letter, reader), reader.random) ?? '';
}

/** What an escape may stand for; the letter has been read. */
function escapedCharacters(letter: string, reader: Reader): readonly string[] {
  if (Object.hasOwn(CLASSES, letter)) return [...(CLASSES[letter] ?? '')];
  if (Object.hasOwn(LITERAL_ESCAPES, letter)) return [LITERAL_ESCAPES[letter] ?? ''];
  const digits = hexDigits(letter, reader);
  if (digits !== undefined) {
    reader.index += digits.length;
    return [String.fromCharCode(Number.parseInt(digits, 16))];
  }
  if (/[A-Za-z0-9]/.test(letter) || letter === '') throw new Unsupported();
  return [letter];
}

function hexDigits(letter: string, { pattern, index }: Reader): string | undefined {
  const length = letter === 'x' ? 2 : letter === 'u' ? 4 : 0;
  const digits = pattern.slice(index, index + length);
  return length > 0 && digits.length === length && /^[\da-f]+$/i.test(digits) ? digits : undefined;
}

function readClass(reader: Reader): string {
  const isNegated = reader.pattern[reader.index] === '^';
  if (isNegated) reader.index += 1;
  const characters: string[] = [];
  while (reader.pattern[reader.index] !== ']') {
    if (reader.index >= reader.pattern.length) throw new Unsupported();
    characters.push(...readRange(reader));
  }
  reader.index += 1;
  if (!isNegated) return pickOrGiveUp(characters, reader);
  const excluded = new Set(characters);
  return pickOrGiveUp(
    [...ORDINARY].filter((character) => !excluded.has(character)),
    reader,
  );
}

const MAX_RANGE = 200;

function readRange(reader: Reader): readonly string[] {
  const first = readClassItem(reader);
  const isRange =
    first.length === 1 &&
    reader.pattern[reader.index] === '-' &&
    ![']', undefined].includes(reader.pattern[reader.index + 1]);
  if (!isRange) return first;
  reader.index += 1;
  const last = readClassItem(reader);
  const from = first[0]?.codePointAt(0) ?? 0;
  const to = last[0]?.codePointAt(0) ?? 0;
  if (last.length !== 1 || to < from) throw new Unsupported();
  const length = Math.min(to - from + 1, MAX_RANGE);
  return Array.from({ length }, (_, offset) => String.fromCodePoint(from + offset));
}

function readClassItem(reader: Reader): readonly string[] {
  const character = codePointAt(reader);
  reader.index += character.length;
  if (character !== '\\') return [character];
  const letter = reader.pattern[reader.index] ?? '';
  reader.index += 1;
  return letter === 'b' ? ['\b'] : escapedCharacters(letter, reader);
}

function readQuantifier(reader: Reader): readonly [least: number, most: number] {
  const rest = reader.pattern.slice(reader.index, reader.index + 32);
  const [all, simple, least, range, most] = /^(?:([*+?])|\{(\d+)(,(\d*))?\})\??/.exec(rest) ?? [];
  if (all === undefined) return [1, 1];
  reader.index += all.length;
  if (simple === '?') return [0, 1];
  if (simple !== undefined) return [simple === '+' ? 1 : 0, Number.POSITIVE_INFINITY];
  const from = Number(least);
  if (range === undefined) return [from, from];
  return [from, most === undefined || most === '' ? Number.POSITIVE_INFINITY : Number(most)];
}

/** The first one more often than the others: it is the plainest. */
function pick<Item>(items: readonly Item[], random: () => number): Item | undefined {
  return items[random() < 0.5 ? 0 : Math.floor(random() * items.length)];
}

function pickOrGiveUp(characters: readonly string[], { random }: Reader): string {
  const picked = pick(characters, random);
  if (picked === undefined) throw new Unsupported();
  return picked;
}
