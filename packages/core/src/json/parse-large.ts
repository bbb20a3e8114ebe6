/**
 * Parses large JSON in steps: one pass finds the boundaries of values, and the engine's parser reads a few of them at
 * a time. Returns the same value as `parseJson`, or throws a SyntaxError where that does; but limits depth, values
 * and members of one object, because all later work takes time for each of them.
 */
import { TurnbuckleError } from '../errors.js';
import { parseJson } from './parse-json.js';
import { endOfString, skipSpace } from './scan-json.js';
import type { Steps } from './slices.js';
import { WidthCounter } from './wide-objects.js';

export interface PartLimits {
  readonly maxDepth: number;
  /** Values, at any level. */
  readonly maxParts: number;
}

export interface LargeJson {
  readonly value: unknown;
  /** It is nested deeper than the limit: no recursive code may process it. */
  readonly isDeep: boolean;
  readonly parts: number;
}

/** The limit even for determining that it is too deep. */
const MAX_OPEN_CONTAINERS = 20_000;
/** Iterating over the members of one object cannot be interrupted. */
const MAX_MEMBERS = 100_000;
/** This much is read in one step. */
const RUN_CHARACTERS = 32 * 1_024;
const CHARACTERS_PER_STEP = 8_192;

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** An open array or object. */
class OpenContainer {
  readonly start: number;
  readonly isList: boolean;
  /** The part read so far; undefined until it is known to be large. */
  list: unknown[] | undefined;
  object: Record<string, unknown> | undefined;
  width: WidthCounter | undefined;
  /** The start of the unread text. */
  unread: number;
  /** The position after its last comma, or its bracket. */
  item: number;
  /** The last item was a large one, and is already added. */
  isLastItemAdded = false;

  constructor(start: number, isList: boolean) {
    this.start = start;
    this.isList = isList;
    this.unread = start + 1;
    this.item = start + 1;
  }

  get isLarge(): boolean {
    return this.list !== undefined || this.object !== undefined;
  }
}

/** Only for the text of an object or array; surrounding white space is allowed. */
export function* parseLarge(text: string, { maxDepth, maxParts }: PartLimits): Steps<LargeJson> {
  const open: OpenContainer[] = [];
  let top: OpenContainer | undefined;
  let parts = 0;
  let value: unknown;
  let isOver = false;
  let isDeep = false;
  for (let at = 0, left = CHARACTERS_PER_STEP; at < text.length; at += 1, left -= 1) {
    if (left <= 0) {
      left = CHARACTERS_PER_STEP;
      yield;
    }
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      if (top === undefined) throw syntaxError(at);
      // A text may contain millions of quotes.
      at = text.indexOf('"', at + 1);
      while (at !== -1 && isEscaped(text, at)) {
        at = text.indexOf('"', at + 1);
        left -= 1;
        if (left <= 0) {
          left = CHARACTERS_PER_STEP;
          yield;
        }
      }
      if (at === -1) throw syntaxError(text.length);
    } else if (code === COMMA && top !== undefined) {
      parts += 1;
      if (parts > maxParts) throw limitError(`has more than ${maxParts} values`);
      if (top.isLastItemAdded || at - top.unread > RUN_CHARACTERS) {
        readUntil(text, top, { at });
        left -= CHARACTERS_PER_STEP / 4;
      }
      top.item = at + 1;
    } else if (code === OPEN_OBJECT || code === OPEN_LIST) {
      if (isOver || (top === undefined && !isBlank(text, 0, at))) throw syntaxError(at);
      parts += 1;
      top = new OpenContainer(at, code === OPEN_LIST);
      pushContainer(open, top);
      isDeep ||= open.length > maxDepth;
    } else if (code === CLOSE_OBJECT || code === CLOSE_LIST) {
      const closed = open.pop();
      if (closed === undefined || closed.isList !== (code === CLOSE_LIST)) throw syntaxError(at);
      top = open[open.length - 1];
      if (parts > maxParts) throw limitError(`has more than ${maxParts} values`);
      // Small values are read together with their neighbours.
      if (top === undefined || closed.isLarge || at - closed.start > RUN_CHARACTERS) {
        readUntil(text, closed, { at, isEnd: true });
        const read = closed.isList ? closed.list : closed.object;
        if (closed.object !== undefined) closed.width?.remember(closed.object);
        if (top === undefined) value = read;
        else addLargePart(text, top, { start: closed.start, end: at, value: read });
        isOver ||= top === undefined;
        left -= CHARACTERS_PER_STEP / 4;
      }
    } else if (isOver && !isBlank(text, at, at + 1)) throw syntaxError(at);
  }
  if (!isOver) throw syntaxError(text.length);
  return { value, isDeep, parts };
}

function pushContainer(open: OpenContainer[], container: OpenContainer): void {
  open.push(container);
  if (open.length > MAX_OPEN_CONTAINERS)
    throw limitError(`is nested more than ${MAX_OPEN_CONTAINERS} levels deep`, 'REQUEST_INVALID');
}

/** Reads its unread text up to this position. */
function readUntil(
  text: string,
  open: OpenContainer,
  { at: end, isEnd = false }: { readonly at: number; readonly isEnd?: boolean },
): void {
  if (open.isList) open.list ??= [];
  else open.object ??= {};
  const from = open.unread;
  open.unread = end + 1;
  if (open.isLastItemAdded) {
    open.isLastItemAdded = false;
    if (!isBlank(text, from, end)) throw syntaxError(from);
    return;
  }
  if (isBlank(text, from, end)) {
    // Only an empty one has nothing between its brackets.
    if (!isEnd || from !== open.start + 1) throw syntaxError(end);
    return;
  }
  addRun(open, text.slice(from, end));
}

function addRun(open: OpenContainer, run: string): void {
  if (open.list !== undefined) {
    for (const item of parseJson(`[${run}]`) as unknown[]) open.list.push(item);
    return;
  }
  const read = parseJson(`{${run}}`) as Record<string, unknown>;
  for (const key of Object.keys(read)) addMember(open, key, read[key]);
}

function addMember(open: OpenContainer, key: string, value: unknown): void {
  open.width ??= new WidthCounter();
  open.width.add(key);
  if (open.width.members > MAX_MEMBERS)
    throw limitError(`has an object with more than ${MAX_MEMBERS} members`);
  if (open.object === undefined) return;
  // Defined, not assigned: `__proto__` is a key like any other.
  if (key === '__proto__')
    Object.defineProperty(open.object, key, { value, enumerable: true, configurable: true, writable: true });
  else open.object[key] = value;
}

/** Adds a large value, after reading what precedes it. */
function addLargePart(
  text: string,
  open: OpenContainer,
  { start, end, value }: { readonly start: number; readonly end: number; readonly value: unknown },
): void {
  if (open.isLastItemAdded) throw syntaxError(start);
  if (open.isList) open.list ??= [];
  else open.object ??= {};
  if (open.item > open.unread) addRun(open, text.slice(open.unread, open.item - 1));
  if (open.list !== undefined) {
    if (!isBlank(text, open.item, start)) throw syntaxError(start);
    open.list.push(value);
  } else addMember(open, keyBefore(text, open.item, start), value);
  open.unread = end + 1;
  open.isLastItemAdded = true;
}

/**
 * The key between these two positions. Found by its quotes: a regular expression needs stack for each character, and
 * a key may have millions.
 */
function keyBefore(text: string, from: number, value: number): string {
  const start = skipSpace(text, from);
  const after = text.charCodeAt(start) === QUOTE ? endOfString(text, start) : value;
  const colon = skipSpace(text, after);
  if (colon >= value || text.charCodeAt(colon) !== COLON || !isBlank(text, colon + 1, value))
    throw syntaxError(value);
  return JSON.parse(text.slice(start, after));
}

function isEscaped(text: string, quote: number): boolean {
  let before = quote - 1;
  while (text.charCodeAt(before) === BACKSLASH) before -= 1;
  return (quote - before) % 2 === 0;
}

function isBlank(text: string, from: number, end: number): boolean {
  for (let at = from; at < end; at += 1) {
    const code = text.charCodeAt(at);
    if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return false;
  }
  return true;
}

const syntaxError = (at: number): SyntaxError => new SyntaxError(`Unexpected text in JSON at position ${at}`);

/** REQUEST_INVALID for its depth, REQUEST_TOO_LARGE for its number of values. */
const limitError = (
  what: string,
  code: 'REQUEST_TOO_LARGE' | 'REQUEST_INVALID' = 'REQUEST_TOO_LARGE',
): TurnbuckleError =>
  new TurnbuckleError(code, `The JSON ${what}.`, {
    hint: 'The request was not processed. Send less data in one request.',
  });
