/**
 * Passes JSON through losslessly. JavaScript numbers are doubles: 64-bit ids of other languages would lose their last
 * digits, and `1.0` its fraction. Values with such numbers are remembered with their raw text; everything else,
 * usually everything, costs one check.
 */
import { TurnbuckleError } from '../errors.js';
import { isTextDeeperThan, MAX_JSON_DEPTH } from './depth.js';
import { MAX_CLIENT_PARTS } from './estimate-memory.js';
import { isRecord } from './is-record.js';
import { shareReservation } from './memory-budget.js';
import { parseJson } from './parse-json.js';
import { parseLarge } from './parse-large.js';
import { hasUniqueKeys, scanJson, scanSteps } from './scan-json.js';
import { inSlices, LARGE_TEXT_LENGTH, runToEnd, type Steps } from './slices.js';
import { partsByKey, partsIn } from './text-parts.js';

interface RawText {
  /** The value that was parsed from the text. */
  readonly value: object;
  /** On one line: some transports end a message at a line break. */
  readonly text: string;
}

/** Null: contains no raw numbers. Recorded only for large values, so that they need not be searched. */
const rawTexts = new WeakMap<object, RawText | null>();
let hasRawTexts = false;

/** Longer texts cost more to scan than their exact numbers are worth. */
const MAX_TEXT_LENGTH = 4 * 1_024 * 1_024;
/**
 * For a message: its params, and in those the arguments, `_meta` and so on. For a batch: the array, a call, its
 * arguments.
 */
const MAX_REMEMBERED_DEPTH = 3;
/** Limits the entries of lists that are processed one by one. */
const MAX_ENTRIES = 2_000;
const CHUNK_CHARACTERS = 64 * 1_024;
/** A number that JavaScript may write differently; also matches inside strings, which only costs time. */
const UNUSUAL_NUMBER = /[[:,]\s*(?:-0(?![\d.])|-?(?:[\d.]{16}|0\.000000|\d+\.\d*0(?!\d)|[\d.]+[eE]))/;

/** Like parseJson, for data to pass on: the raw text of its numbers is remembered. */
export function parseWithRawNumbers(text: string): unknown {
  const value = parseJson(text);
  if (!isRecord(value) || text.length > MAX_TEXT_LENGTH || !UNUSUAL_NUMBER.test(text)) return value;
  const { duplicateKey, hasNonCanonicalNumber } = scanJson(text);
  // If two parsers could read the text differently, only what was parsed here is passed on.
  if (hasNonCanonicalNumber && duplicateKey === undefined) runToEnd(rememberRawText(value, oneLine(text), 1));
  return value;
}

/** Remembers, in steps, what parseWithRawNumbers would remember for a value parsed from this text. */
export function* rememberRawNumbers(value: object, text: string): Steps<void> {
  const isSuspect = text.length <= MAX_TEXT_LENGTH && (yield* findUnusualNumber(text));
  const scan = isSuspect ? yield* scanSteps(text) : undefined;
  if (scan?.hasNonCanonicalNumber === true && scan.duplicateKey === undefined)
    yield* rememberRawText(value, oneLine(text), 1);
  else rememberNoRawText(value, 1);
}

/** Tests for suspicious numbers from comma to comma: no number spans one. */
function* findUnusualNumber(text: string): Steps<boolean> {
  for (let from = 0, end = 0; from < text.length; from = end) {
    const comma = text.indexOf(',', from + CHUNK_CHARACTERS);
    end = comma === -1 ? text.length : comma;
    if (UNUSUAL_NUMBER.test(text.slice(from, end))) return true;
    yield;
  }
  return false;
}

/**
 * Like parseLossless, for texts of any size: a large one does not block the event loop. REQUEST_TOO_LARGE if it has
 * too many values.
 */
export function parseLosslessInSlices(text: string): Promise<unknown> | unknown {
  return text.length > LARGE_TEXT_LENGTH ? inSlices(parseLargeLossless(text)) : parseLossless(text);
}

function* parseLargeLossless(text: string): Steps<unknown> {
  const { value, isDeep } = yield* parseLarge(text, { maxDepth: MAX_JSON_DEPTH, maxParts: MAX_CLIENT_PARTS });
  if (isDeep) throw tooDeepError();
  const { duplicateKey, hasNonCanonicalNumber } = yield* scanSteps(text);
  if (duplicateKey !== undefined) throw duplicateKeyError(duplicateKey);
  if (!isRecord(value)) return value;
  if (hasNonCanonicalNumber) yield* rememberRawText(value, oneLine(text), MAX_REMEMBERED_DEPTH);
  else rememberNoRawText(value, MAX_REMEMBERED_DEPTH);
  return value;
}

/**
 * Like parseWithRawNumbers, for what a client sends: REQUEST_INVALID for a duplicate key in an object, because the
 * rules and the server must see the same values.
 */
export function parseLossless(text: string): unknown {
  if (isTextDeeperThan(text)) throw tooDeepError();
  const value = parseJson(text);
  if (hasUniqueKeys(text, value) && !UNUSUAL_NUMBER.test(text)) return value;
  const { duplicateKey, hasNonCanonicalNumber } = scanJson(text);
  if (duplicateKey !== undefined) throw duplicateKeyError(duplicateKey);
  if (hasNonCanonicalNumber && isRecord(value))
    runToEnd(rememberRawText(value, oneLine(text), MAX_REMEMBERED_DEPTH));
  return value;
}

const tooDeepError = (): TurnbuckleError =>
  new TurnbuckleError('REQUEST_INVALID', `The JSON is nested more than ${MAX_JSON_DEPTH} levels deep.`, {
    hint: 'The request was not processed. Send less deeply nested data.',
  });

const duplicateKeyError = (key: string): TurnbuckleError =>
  new TurnbuckleError(
    'REQUEST_INVALID',
    `Duplicate key ${JSON.stringify(key.slice(0, 100))} in JSON object.`,
    { hint: 'The request was not processed. Send each key once.' },
  );

/** `to` was made from members of `from`: shared members keep their raw numbers and their memory budget. */
export function copyRawNumbers<Made extends object>(from: object, to: Made): Made {
  shareReservation(from, to);
  const spelling = hasRawTexts ? rawTexts.get(from) : undefined;
  if (spelling != null) rawTexts.set(to, spelling);
  return to;
}

/** `to` is a copy of `from`, at least in its upper levels: both serialize the same. */
export function copyRawNumbersDeep<Copy>(from: unknown, to: Copy): Copy {
  if (hasRawTexts) copyRawTexts(from, to, MAX_REMEMBERED_DEPTH);
  return to;
}

function copyRawTexts(from: unknown, to: unknown, levels: number): void {
  if (from === to || !isObject(from) || !isObject(to)) return;
  const spelling = rawTexts.get(from);
  if (spelling == null) return;
  const keys = Object.keys(to);
  const isWhole =
    spelling.value === from &&
    keys.length === Object.keys(from).length &&
    keys.every((key) => Reflect.get(from, key) === Reflect.get(to, key));
  rawTexts.set(to, isWhole ? { value: to, text: spelling.text } : spelling);
  if (isWhole || levels === 0 || keys.length > MAX_ENTRIES) return;
  for (const key of keys) copyRawTexts(Reflect.get(from, key), Reflect.get(to, key), levels - 1);
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

/** The value is serialized as this text. */
export function withRawText<Value extends object>(value: Value, text: string): Value {
  hasRawTexts = true;
  rawTexts.set(value, { value, text });
  return value;
}

/** The exact value of an integer member that a double cannot hold; undefined for all others. */
export function exactInteger(holder: object, key: string): bigint | undefined {
  const value: unknown = Reflect.get(holder, key);
  if (!hasRawTexts || typeof value !== 'number' || Number.isSafeInteger(value)) return undefined;
  const spelling = rawTexts.get(holder);
  const text = spelling == null ? undefined : partsByKey(spelling.text).get(key);
  // A finite number has at most a few hundred digits.
  return text !== undefined && Number.isFinite(value) && /^-?\d+$/.test(text) ? BigInt(text) : undefined;
}

/** The items of the lists in it keep their raw numbers too, wherever they are moved. */
export function keepRawNumbersOfEntries(value: object): void {
  const spelling = hasRawTexts ? rawTexts.get(value) : undefined;
  if (spelling != null) runToEnd(rememberRawText(value, spelling.text, 2));
}

/** Its raw text no longer refers to the whole text it is a part of. */
export function detachRawText(value: unknown): void {
  const spelling = hasRawTexts && isObject(value) ? rawTexts.get(value) : undefined;
  if (spelling != null)
    rawTexts.set(spelling.value, { ...spelling, text: Buffer.from(spelling.text).toString() });
}

/** Whether it contains raw numbers. */
export const hasRawNumbers = (value: unknown): boolean =>
  hasRawTexts && isRecord(value) && containsRawText(value, MAX_REMEMBERED_DEPTH);

/** Like `JSON.stringify`, but with raw numbers preserved. */
export function writeJson(value: unknown): string {
  return hasRawTexts && isRecord(value) && containsRawText(value, MAX_REMEMBERED_DEPTH)
    ? writeLossless(value, MAX_REMEMBERED_DEPTH)
    : JSON.stringify(value);
}

/** The text of a value that contains raw numbers; usually there are none: undefined. */
export function losslessText(value: object): string | undefined {
  return hasRawTexts && isRecord(value) && containsRawText(value, MAX_REMEMBERED_DEPTH)
    ? writeLossless(value, MAX_REMEMBERED_DEPTH)
    : undefined;
}

/** Includes nested values, for some levels. The text is on one line. */
function* rememberRawText(value: object, text: string, levels: number): Steps<void> {
  hasRawTexts = true;
  rawTexts.set(value, { value, text });
  if (levels === 0 || (Array.isArray(value) && value.length > MAX_ENTRIES)) return;
  for (const { key, start, end } of partsIn(text)) {
    const first = text.charCodeAt(start);
    if (first !== OPEN_OBJECT && first !== OPEN_LIST) continue;
    const inner: unknown = Reflect.get(value, key);
    if (isObject(inner)) yield* rememberRawText(inner, text.slice(start, end), levels - 1);
    yield;
  }
}

/** Marks a large value, and everything taken out of it, as free of raw numbers. */
function rememberNoRawText(value: object, levels: number): void {
  rawTexts.set(value, null);
  if (levels === 0) return;
  let count = 0;
  for (const key in value) {
    count += 1;
    if (count > MAX_ENTRIES) return;
    const part: unknown = Reflect.get(value, key);
    if (isRecord(part)) rememberNoRawText(part, levels - 1);
  }
}

const oneLine = (text: string): string => text.replace(/[\r\n]/g, ' ');

function containsRawText(value: Readonly<Record<string, unknown>>, levels: number): boolean {
  const spelling = rawTexts.get(value);
  if (spelling !== undefined) return spelling !== null;
  if (levels === 0) return false;
  for (const key in value) {
    const part = value[key];
    if (isRecord(part) && containsRawText(part, levels - 1)) return true;
  }
  return false;
}

function writeLossless(value: Readonly<Record<string, unknown>>, levels: number): string {
  const spelling = rawTexts.get(value);
  if (spelling === null) return JSON.stringify(value);
  if (spelling?.value === value) return spelling.text;
  const parts = spelling && partsByKey(spelling.text);
  const members: string[] = [];
  for (const [key, part] of Object.entries(value)) {
    const same = spelling && Object.is(part, Reflect.get(spelling.value, key)) ? parts?.get(key) : undefined;
    const text =
      same ?? (isRecord(part) && levels > 0 ? writeLossless(part, levels - 1) : JSON.stringify(part));
    if (text !== undefined) members.push(`${JSON.stringify(key)}:${text}`);
  }
  return `{${members.join(',')}}`;
}

const OPEN_LIST = 0x5b;
const OPEN_OBJECT = 0x7b;
