/**
 * JSON that passes through is written again as it was spelled. A number of JavaScript is a double: 64-bit ids of
 * other languages lose their last digits in it, and `1.0` its point. What holds such a number is remembered with
 * its text; everything else, nearly always everything, costs one look.
 */
import { TurnbuckleError } from '../errors.js';
import { isRecord } from '../is-record.js';
import { isTextDeeperThan, MAX_JSON_DEPTH } from './depth.js';
import { parseJson } from './parse-json.js';
import { parseLarge } from './parse-large.js';
import { shareRoom } from './rooms.js';
import { hasEachKeyOnce, scanJson, scanSteps } from './scan-json.js';
import { atOnce, inSlices, LARGE_TEXT, type Steps } from './slices.js';
import { partsIn, partsOf } from './text-parts.js';
import { MAX_PARTS_SENT } from './weigh-json.js';

interface Spelling {
  /** What was read from the text. */
  readonly value: object;
  /** On one line: some carriers end a message where a line ends. */
  readonly text: string;
}

/** Null: nothing in it has a spelling of its own. Known only of what is large, to be told without looking through it. */
const spellings = new WeakMap<object, Spelling | null>();
let hasAny = false;

/** Longer texts cost more to look through than their numbers are worth to anybody. */
const LONGEST = 4 * 1_024 * 1_024;
/** Of a message: its params, of those the arguments, `_meta` and so on. Of a batch: the list, a call, its arguments. */
const LEVELS = 3;
/** Whatever is made of a list entry by entry has fewer of them. */
const MAX_ENTRIES = 2_000;
const CHUNK = 64 * 1_024;
/** A number that may be spelled otherwise than JavaScript does; inside of strings too, which costs only time. */
const SUSPECT = /[[:,]\s*(?:-0(?![\d.])|-?(?:[\d.]{16}|0\.000000|\d+\.\d*0(?!\d)|[\d.]+[eE]))/;

/** As parseJson, for what others sent us to pass on: what it says is remembered as it is spelled. */
export function parseSpelled(text: string): unknown {
  const value = parseJson(text);
  if (!isRecord(value) || text.length > LONGEST || !SUSPECT.test(text)) return value;
  const { duplicateKey, hasForeignNumber } = scanJson(text);
  // Where two readers could see two things, only what was seen here goes on.
  if (hasForeignNumber && duplicateKey === undefined) atOnce(remember(value, oneLine(text), 1));
  return value;
}

/** Remembers, a piece at a time, what parseSpelled would remember of a value that was read from this text. */
export function* rememberLarge(value: object, text: string): Steps<void> {
  const isSuspect = text.length <= LONGEST && (yield* suspectSteps(text));
  const scan = isSuspect ? yield* scanSteps(text) : undefined;
  if (scan?.hasForeignNumber === true && scan.duplicateKey === undefined)
    yield* remember(value, oneLine(text), 1);
  else rememberPlain(value, 1);
}

/** The test for suspects, from comma to comma: no number reaches across one. */
function* suspectSteps(text: string): Steps<boolean> {
  for (let from = 0, end = 0; from < text.length; from = end) {
    const comma = text.indexOf(',', from + CHUNK);
    end = comma === -1 ? text.length : comma;
    if (SUSPECT.test(text.slice(from, end))) return true;
    yield;
  }
  return false;
}

/** As parseStrictly, for texts of any size: a large one holds up nobody. REQUEST_TOO_LARGE where it has too many parts. */
export function parseInSlices(text: string): Promise<unknown> | unknown {
  return text.length > LARGE_TEXT ? inSlices(parseLargeStrictly(text)) : parseStrictly(text);
}

function* parseLargeStrictly(text: string): Steps<unknown> {
  const { value, isDeep } = yield* parseLarge(text, { maxDepth: MAX_JSON_DEPTH, maxParts: MAX_PARTS_SENT });
  if (isDeep) throw tooDeep();
  const { duplicateKey, hasForeignNumber } = yield* scanSteps(text);
  if (duplicateKey !== undefined) throw duplicate(duplicateKey);
  if (!isRecord(value)) return value;
  if (hasForeignNumber) yield* remember(value, oneLine(text), LEVELS);
  else rememberPlain(value, LEVELS);
  return value;
}

/**
 * As parseSpelled, for what a client sends: REQUEST_INVALID for a key that stands twice in an object, because what
 * the rules see and what a server does must be the same.
 */
export function parseStrictly(text: string): unknown {
  if (isTextDeeperThan(text)) throw tooDeep();
  const value = parseJson(text);
  if (hasEachKeyOnce(text, value) && !SUSPECT.test(text)) return value;
  const { duplicateKey, hasForeignNumber } = scanJson(text);
  if (duplicateKey !== undefined) throw duplicate(duplicateKey);
  if (hasForeignNumber && isRecord(value)) atOnce(remember(value, oneLine(text), LEVELS));
  return value;
}

const tooDeep = (): TurnbuckleError =>
  new TurnbuckleError('REQUEST_INVALID', `The JSON is nested more than ${MAX_JSON_DEPTH} deep.`, {
    hint: 'Nothing was done. Send flatter data.',
  });

const duplicate = (key: string): TurnbuckleError =>
  new TurnbuckleError(
    'REQUEST_INVALID',
    `The key ${JSON.stringify(key.slice(0, 100))} stands twice in one object.`,
    { hint: 'Nothing was done. Send each key once.' },
  );

/** `to` was made of the parts of `from`: what both have is written as it was, and takes the same room. */
export function keepSpelling<Made extends object>(from: object, to: Made): Made {
  shareRoom(from, to);
  const spelling = hasAny ? spellings.get(from) : undefined;
  if (spelling != null) spellings.set(to, spelling);
  return to;
}

/** `to` is a copy of `from`, in its upper levels at least: both are written alike. */
export function keepSpellingOfCopy<Copy>(from: unknown, to: Copy): Copy {
  if (hasAny) copySpelling(from, to, LEVELS);
  return to;
}

function copySpelling(from: unknown, to: unknown, levels: number): void {
  if (from === to || !isObject(from) || !isObject(to)) return;
  const spelling = spellings.get(from);
  if (spelling == null) return;
  const keys = Object.keys(to);
  const isWhole =
    spelling.value === from &&
    keys.length === Object.keys(from).length &&
    keys.every((key) => Reflect.get(from, key) === Reflect.get(to, key));
  spellings.set(to, isWhole ? { value: to, text: spelling.text } : spelling);
  if (isWhole || levels === 0 || keys.length > MAX_ENTRIES) return;
  for (const key of keys) copySpelling(Reflect.get(from, key), Reflect.get(to, key), levels - 1);
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

/** The value is written as this text. */
export function spelled<Value extends object>(value: Value, text: string): Value {
  hasAny = true;
  spellings.set(value, { value, text });
  return value;
}

/** A member that is a whole number of more digits than a number holds, exactly; undefined for all others. */
export function exactInteger(holder: object, key: string): bigint | undefined {
  const value: unknown = Reflect.get(holder, key);
  if (!hasAny || typeof value !== 'number' || Number.isSafeInteger(value)) return undefined;
  const spelling = spellings.get(holder);
  const text = spelling == null ? undefined : partsOf(spelling.text).get(key);
  // A finite number has a few hundred digits at most.
  return text !== undefined && Number.isFinite(value) && /^-?\d+$/.test(text) ? BigInt(text) : undefined;
}

/** Also the entries of the lists in it keep their spelling, wherever they go. */
export function keepSpellingOfEntries(value: object): void {
  const spelling = hasAny ? spellings.get(value) : undefined;
  if (spelling != null) atOnce(remember(value, spelling.text, 2));
}

/** Its spelling does not hold the whole text any more that it is a part of. */
export function ownSpelling(value: unknown): void {
  const spelling = hasAny && isObject(value) ? spellings.get(value) : undefined;
  if (spelling != null)
    spellings.set(spelling.value, { ...spelling, text: Buffer.from(spelling.text).toString() });
}

/** Something in it is to be written as it was spelled. */
export const hasSpelling = (value: unknown): boolean =>
  hasAny && isRecord(value) && holdsSpelling(value, LEVELS);

/** `JSON.stringify`, with every part that has a spelling of its own in that. */
export function writeJson(value: unknown): string {
  return hasAny && isRecord(value) && holdsSpelling(value, LEVELS)
    ? write(value, LEVELS)
    : JSON.stringify(value);
}

/** The text of a value that has a spelling of its own in any part; undefined, nearly always, when it has none. */
export function spelledText(value: object): string | undefined {
  return hasAny && isRecord(value) && holdsSpelling(value, LEVELS) ? write(value, LEVELS) : undefined;
}

/** Also what is in it, for some levels. The text is on one line. */
function* remember(value: object, text: string, levels: number): Steps<void> {
  hasAny = true;
  spellings.set(value, { value, text });
  if (levels === 0 || (Array.isArray(value) && value.length > MAX_ENTRIES)) return;
  for (const { key, start, end } of partsIn(text)) {
    const first = text.charCodeAt(start);
    if (first !== OPEN_OBJECT && first !== OPEN_LIST) continue;
    const inner: unknown = Reflect.get(value, key);
    if (isObject(inner)) yield* remember(inner, text.slice(start, end), levels - 1);
    yield;
  }
}

/** Says of a large value that nothing in it has a spelling: of what is taken out of it, too. */
function rememberPlain(value: object, levels: number): void {
  spellings.set(value, null);
  if (levels === 0) return;
  let count = 0;
  for (const key in value) {
    count += 1;
    if (count > MAX_ENTRIES) return;
    const part: unknown = Reflect.get(value, key);
    if (isRecord(part)) rememberPlain(part, levels - 1);
  }
}

const oneLine = (text: string): string => text.replace(/[\r\n]/g, ' ');

function holdsSpelling(value: Readonly<Record<string, unknown>>, levels: number): boolean {
  const spelling = spellings.get(value);
  if (spelling !== undefined) return spelling !== null;
  if (levels === 0) return false;
  for (const key in value) {
    const part = value[key];
    if (isRecord(part) && holdsSpelling(part, levels - 1)) return true;
  }
  return false;
}

function write(value: Readonly<Record<string, unknown>>, levels: number): string {
  const spelling = spellings.get(value);
  if (spelling === null) return JSON.stringify(value);
  if (spelling?.value === value) return spelling.text;
  const parts = spelling && partsOf(spelling.text);
  const members: string[] = [];
  for (const [key, part] of Object.entries(value)) {
    const same = spelling && Object.is(part, Reflect.get(spelling.value, key)) ? parts?.get(key) : undefined;
    const text = same ?? (isRecord(part) && levels > 0 ? write(part, levels - 1) : JSON.stringify(part));
    if (text !== undefined) members.push(`${JSON.stringify(key)}:${text}`);
  }
  return `{${members.join(',')}}`;
}

const OPEN_LIST = 0x5b;
const OPEN_OBJECT = 0x7b;
