/**
 * Searches large data for secrets, and removes them, in steps: patterns take up to a second for a million characters.
 * A long text is checked in overlapping pieces, so that a secret at the end of one is whole in the next; a secret
 * longer than the overlap is found only by its beginning.
 */
import type { Steps } from '../json/slices.js';
import { hasMorePartsThan } from '../json/write-large.js';
import {
  emptyLike,
  isCleanDeep,
  MAX_REDACTION_DEPTH,
  RedactingCopier,
  type RedactionPosition,
  type RedactionRules,
} from './redact-deep.js';

const PIECE_LENGTH = 16 * 1_024;
const OVERLAP_LENGTH = 4 * 1_024;
const STRIDE = PIECE_LENGTH - OVERLAP_LENGTH;
/** The work of one step: a thousand parts, or as many characters as a piece has. */
const MAX_PARTS_PER_STEP = 1_024;
/** The number of pieces of a text with matches: redacting each takes long, so the rest is removed as a whole. */
const MAX_DIRTY_PIECES = 100;
/** How far back to look for a position where a text can be cut without cutting a word. */
const MAX_WORD_LENGTH = 512;

/** Whether any text in a value passes: values and names. Cycles are visited once. */
export function* someTextSteps(value: unknown, test: (text: string) => boolean): Steps<boolean> {
  const open = [value];
  const seen = new Set<object>();
  for (
    let item = open.pop(), count = 1;
    item !== undefined || open.length > 0;
    item = open.pop(), count += 1
  ) {
    if (count % MAX_PARTS_PER_STEP === 0) yield;
    if (typeof item === 'number' && test(String(item))) return true;
    if (typeof item === 'string' && (yield* someOf(item, test))) return true;
    if (typeof item !== 'object' || item === null || seen.has(item)) continue;
    seen.add(item);
    const keys = keysOf(item);
    for (let at = 0; at < keys.length; at += 1) {
      if (at % MAX_PARTS_PER_STEP === MAX_PARTS_PER_STEP - 1) yield;
      const key = keys.at(at);
      if (typeof key === 'string' && (yield* someOf(key, test))) return true;
      open.push(Reflect.get(item, key));
    }
  }
  return false;
}

interface Keys {
  readonly length: number;
  at(index: number): string | number;
}

/** Names, or indexes, which need no list. */
function keysOf(value: object): Keys {
  if (Array.isArray(value)) return { length: value.length, at: (index) => index };
  const names = Object.keys(value);
  return { length: names.length, at: (index) => names[index] ?? '' };
}

function* someOf(text: string, test: (text: string) => boolean): Steps<boolean> {
  if (text.length <= PIECE_LENGTH) return test(text);
  for (let at = 0; at < text.length; at += STRIDE) {
    if (test(text.slice(at, at + PIECE_LENGTH))) return true;
    yield;
  }
  return false;
}

const ROOT_POSITION: RedactionPosition = { depth: 0, hidden: false };

/** The slow check for data of any size, with what was visited on the way. */
export class SlicedRedaction {
  readonly #rules: RedactionRules;
  readonly #copier: RedactingCopier;
  readonly #seen = new Set<object>();
  readonly #copies = new Map<object, unknown>();

  constructor(rules: RedactionRules) {
    this.#rules = rules;
    this.#copier = new RedactingCopier(rules);
  }

  /** Whether there is nothing to redact. */
  *isClean(value: unknown, place = ROOT_POSITION): Steps<boolean> {
    const { text } = this.#rules;
    if (isLongText(value, place)) return !(yield* someOf(value, (piece) => text(piece) !== piece));
    if (!isLarge(value, place)) return isCleanDeep(value, this.#rules, place);
    if (this.#seen.has(value)) return true;
    this.#seen.add(value);
    const keys = keysOf(value);
    for (let at = 0; at < keys.length; at += 1) {
      if (at % 64 === 63) yield;
      const key = keys.at(at);
      if (this.#copier.redactKey(key) !== key) return false;
      if (!(yield* this.isClean(Reflect.get(value, key), this.#positionOf(key, place)))) return false;
    }
    return true;
  }

  /** A copy with everything redacted. */
  *copy(value: unknown, place = ROOT_POSITION): Steps<unknown> {
    if (isLongText(value, place)) return yield* cleanText(value, this.#rules);
    if (!isLarge(value, place))
      return new RedactingCopier(this.#rules).copy(value, place.depth, place.hidden);
    if (this.#copies.has(value)) return this.#copies.get(value);
    const { target, put } = emptyLike(value);
    this.#copies.set(value, target);
    const keys = keysOf(value);
    for (let at = 0; at < keys.length; at += 1) {
      if (at % 64 === 63) yield;
      const key = keys.at(at);
      put(
        this.#copier.redactKey(key),
        yield* this.copy(Reflect.get(value, key), this.#positionOf(key, place)),
      );
    }
    return target;
  }

  #positionOf(key: string | number, { depth, hidden }: RedactionPosition): RedactionPosition {
    return { depth: depth + 1, hidden: this.#copier.hides(key, hidden) };
  }
}

const isLongText = (value: unknown, { hidden }: RedactionPosition): value is string =>
  typeof value === 'string' && value.length > PIECE_LENGTH && !hidden;

/** Plain data only, and not too deep: the rest is small, or left to specialized code. */
const isLarge = (value: unknown, { depth }: RedactionPosition): value is object =>
  typeof value === 'object' &&
  value !== null &&
  depth <= MAX_REDACTION_DEPTH &&
  (Array.isArray(value) || Object.getPrototypeOf(value) === Object.prototype) &&
  hasMorePartsThan(value, MAX_PARTS_PER_STEP);

function* cleanText(text: string, { text: clean, mark }: RedactionRules): Steps<string> {
  let result = '';
  let found = 0;
  for (let at = 0; ; ) {
    const piece = text.slice(at, at + PIECE_LENGTH);
    const whole = clean(piece);
    yield;
    if (at + PIECE_LENGTH >= text.length) return result + whole;
    if (whole === piece) {
      result += piece.slice(0, STRIDE);
      at += STRIDE;
      continue;
    }
    found += 1;
    if (found > MAX_DIRTY_PIECES) return result + mark;
    const cut = yield* splitCleanly(piece, whole, clean);
    result += cut?.text ?? mark;
    at += cut?.length ?? piece.length;
  }
}

/** The longest beginning that can be redacted on its own: both halves give the same result as the whole. */
function* splitCleanly(
  piece: string,
  whole: string,
  clean: (text: string) => string,
): Steps<{ readonly text: string; readonly length: number } | undefined> {
  for (const quarters of [4, 3, 2, 1]) {
    const most = (STRIDE * quarters) / 4;
    const space = piece.slice(0, most).search(/\s\S*$/);
    const length = space > most - MAX_WORD_LENGTH && space > 0 ? space : most;
    const text = clean(piece.slice(0, length));
    if (text + clean(piece.slice(length)) === whole) return { text, length };
    yield;
  }
  return undefined;
}
