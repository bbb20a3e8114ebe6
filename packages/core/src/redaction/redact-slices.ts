/**
 * Looks for secrets in large data, and takes them out of it, in steps: patterns take up to a second for a million
 * characters. A long text is looked at in pieces that overlap, so that what stands where one ends is seen whole in the
 * next; what is longer than the overlap is found only if its beginning is.
 */
import type { Steps } from '../json/slices.js';
import { hasMoreParts } from '../json/write-large.js';
import { Copier, DEEPEST, type DeepRules, emptyLike, isCleanDeep, type Place } from './redact-deep.js';

const PIECE = 16 * 1_024;
const OVERLAP = 4 * 1_024;
const STRIDE = PIECE - OVERLAP;
/** So much is looked at in one step: a thousand parts, or as many characters as a piece has. */
const FEW = 1_024;
/** Of pieces of a text with something in them: taking it out of each takes long, and the rest goes as a whole. */
const MAX_FOUND = 100;
/** So far back a place is looked for where a text can be cut without cutting a word. */
const WORD = 512;

/** Whether any text in a value passes: values and names. Rings are gone round once. */
export function* someTextSteps(value: unknown, test: (text: string) => boolean): Steps<boolean> {
  const open = [value];
  const seen = new Set<object>();
  for (
    let item = open.pop(), count = 1;
    item !== undefined || open.length > 0;
    item = open.pop(), count += 1
  ) {
    if (count % FEW === 0) yield;
    if (typeof item === 'number' && test(String(item))) return true;
    if (typeof item === 'string' && (yield* someOf(item, test))) return true;
    if (typeof item !== 'object' || item === null || seen.has(item)) continue;
    seen.add(item);
    const keys = keysOf(item);
    for (let at = 0; at < keys.length; at += 1) {
      if (at % FEW === FEW - 1) yield;
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

/** Names, or places, which need no list of them. */
function keysOf(value: object): Keys {
  if (Array.isArray(value)) return { length: value.length, at: (index) => index };
  const names = Object.keys(value);
  return { length: names.length, at: (index) => names[index] ?? '' };
}

function* someOf(text: string, test: (text: string) => boolean): Steps<boolean> {
  if (text.length <= PIECE) return test(text);
  for (let at = 0; at < text.length; at += STRIDE) {
    if (test(text.slice(at, at + PIECE))) return true;
    yield;
  }
  return false;
}

const TOP: Place = { depth: 0, hidden: false };

/** The slow look at data of any size, with what has been seen on the way. */
export class SlicedLook {
  readonly #rules: DeepRules;
  readonly #copier: Copier;
  readonly #seen = new Set<object>();
  readonly #copies = new Map<object, unknown>();

  constructor(rules: DeepRules) {
    this.#rules = rules;
    this.#copier = new Copier(rules);
  }

  /** Whether nothing in it has to go. */
  *isClean(value: unknown, place = TOP): Steps<boolean> {
    const { text } = this.#rules;
    if (isLongText(value, place)) return !(yield* someOf(value, (piece) => text(piece) !== piece));
    if (!isLarge(value, place)) return isCleanDeep(value, this.#rules, place);
    if (this.#seen.has(value)) return true;
    this.#seen.add(value);
    const keys = keysOf(value);
    for (let at = 0; at < keys.length; at += 1) {
      if (at % 64 === 63) yield;
      const key = keys.at(at);
      if (this.#copier.key(key) !== key) return false;
      if (!(yield* this.isClean(Reflect.get(value, key), this.#inside(key, place)))) return false;
    }
    return true;
  }

  /** A copy without what has to go. */
  *copy(value: unknown, place = TOP): Steps<unknown> {
    if (isLongText(value, place)) return yield* cleanText(value, this.#rules);
    if (!isLarge(value, place)) return new Copier(this.#rules).copy(value, place.depth, place.hidden);
    if (this.#copies.has(value)) return this.#copies.get(value);
    const { target, put } = emptyLike(value);
    this.#copies.set(value, target);
    const keys = keysOf(value);
    for (let at = 0; at < keys.length; at += 1) {
      if (at % 64 === 63) yield;
      const key = keys.at(at);
      put(this.#copier.key(key), yield* this.copy(Reflect.get(value, key), this.#inside(key, place)));
    }
    return target;
  }

  #inside(key: string | number, { depth, hidden }: Place): Place {
    return { depth: depth + 1, hidden: this.#copier.hides(key, hidden) };
  }
}

const isLongText = (value: unknown, { hidden }: Place): value is string =>
  typeof value === 'string' && value.length > PIECE && !hidden;

/** Plain data only, and not too deep: the rest is small, or left to who knows it. */
const isLarge = (value: unknown, { depth }: Place): value is object =>
  typeof value === 'object' &&
  value !== null &&
  depth <= DEEPEST &&
  (Array.isArray(value) || Object.getPrototypeOf(value) === Object.prototype) &&
  hasMoreParts(value, FEW);

function* cleanText(text: string, { text: clean, mark }: DeepRules): Steps<string> {
  let result = '';
  let found = 0;
  for (let at = 0; ; ) {
    const piece = text.slice(at, at + PIECE);
    const whole = clean(piece);
    yield;
    if (at + PIECE >= text.length) return result + whole;
    if (whole === piece) {
      result += piece.slice(0, STRIDE);
      at += STRIDE;
      continue;
    }
    found += 1;
    if (found > MAX_FOUND) return result + mark;
    const cut = yield* cutCleanly(piece, whole, clean);
    result += cut?.text ?? mark;
    at += cut?.length ?? piece.length;
  }
}

/** The longest beginning that can be cleaned by itself: both halves come to what the whole came to. */
function* cutCleanly(
  piece: string,
  whole: string,
  clean: (text: string) => string,
): Steps<{ readonly text: string; readonly length: number } | undefined> {
  for (const quarters of [4, 3, 2, 1]) {
    const most = (STRIDE * quarters) / 4;
    const space = piece.slice(0, most).search(/\s\S*$/);
    const length = space > most - WORD && space > 0 ? space : most;
    const text = clean(piece.slice(0, length));
    if (text + clean(piece.slice(length)) === whole) return { text, length };
    yield;
  }
  return undefined;
}
