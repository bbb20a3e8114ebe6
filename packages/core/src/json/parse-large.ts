/**
 * Reads large JSON in steps: one pass finds where parts begin and end, and the engine's own parser reads them a few at
 * a time. The same value as from `parseJson`, or a SyntaxError where that throws one; but bounded in depth, in parts
 * and in the members of one object, because whatever is done with a value later takes time for each of them.
 */
import { TurnbuckleError } from '../errors.js';
import { parseJson } from './parse-json.js';
import { afterSpace, endOfString } from './scan-json.js';
import type { Steps } from './slices.js';
import { WidthNote } from './wide-objects.js';

export interface PartLimits {
  readonly maxDepth: number;
  /** Values, inside of each other or beside. */
  readonly maxParts: number;
}

export interface LargeJson {
  readonly value: unknown;
  /** It is nested deeper than the limit: to be looked at by nothing that recurses. */
  readonly isDeep: boolean;
  readonly parts: number;
}

/** Even to be told that it is too deep. */
const MAX_OPEN = 20_000;
/** Nothing can be left half way in going through the members of one object. */
const MAX_MEMBERS = 100_000;
/** So much is read at once. */
const RUN = 32 * 1_024;
const STEP = 8_192;

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** A list or object that is open. */
class Open {
  readonly start: number;
  readonly isList: boolean;
  /** What was read of it; undefined until it is known to be large. */
  list: unknown[] | undefined;
  object: Record<string, unknown> | undefined;
  width: WidthNote | undefined;
  /** From where on it has not been read. */
  unread: number;
  /** Behind its last comma, or its bracket. */
  item: number;
  /** The last item was a large one, which has been put there already. */
  isPut = false;

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

/** Only for text of an object or list; white space around it does no harm. */
export function* parseLarge(text: string, { maxDepth, maxParts }: PartLimits): Steps<LargeJson> {
  const open: Open[] = [];
  let top: Open | undefined;
  let parts = 0;
  let value: unknown;
  let isOver = false;
  let isDeep = false;
  for (let at = 0, left = STEP; at < text.length; at += 1, left -= 1) {
    if (left <= 0) {
      left = STEP;
      yield;
    }
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      if (top === undefined) throw syntax(at);
      // A text may hold millions of quotes.
      at = text.indexOf('"', at + 1);
      while (at !== -1 && isEscaped(text, at)) {
        at = text.indexOf('"', at + 1);
        left -= 1;
        if (left <= 0) {
          left = STEP;
          yield;
        }
      }
      if (at === -1) throw syntax(text.length);
    } else if (code === COMMA && top !== undefined) {
      parts += 1;
      if (parts > maxParts) throw tooMuch(`has more than ${maxParts} parts`);
      if (top.isPut || at - top.unread > RUN) {
        readUntil(text, top, at);
        left -= STEP / 4;
      }
      top.item = at + 1;
    } else if (code === OPEN_OBJECT || code === OPEN_LIST) {
      if (isOver || (top === undefined && !isBlank(text, 0, at))) throw syntax(at);
      parts += 1;
      top = new Open(at, code === OPEN_LIST);
      open.push(top);
      isDeep ||= open.length > maxDepth;
      if (open.length > MAX_OPEN) throw tooMuch(`is nested more than ${MAX_OPEN} deep`, 'REQUEST_INVALID');
    } else if (code === CLOSE_OBJECT || code === CLOSE_LIST) {
      const closed = open.pop();
      if (closed === undefined || closed.isList !== (code === CLOSE_LIST)) throw syntax(at);
      top = open[open.length - 1];
      if (parts > maxParts) throw tooMuch(`has more than ${maxParts} parts`);
      // What is small is read together with what stands beside it.
      if (top === undefined || closed.isLarge || at - closed.start > RUN) {
        readUntil(text, closed, at, true);
        const read = closed.isList ? closed.list : closed.object;
        if (closed.object !== undefined) closed.width?.keep(closed.object);
        if (top === undefined) value = read;
        else put(text, top, closed.start, read, at);
        isOver ||= top === undefined;
        left -= STEP / 4;
      }
    } else if (isOver && !isBlank(text, at, at + 1)) throw syntax(at);
  }
  if (!isOver) throw syntax(text.length);
  return { value, isDeep, parts };
}

/** Reads what stands unread in it up to here. */
function readUntil(text: string, open: Open, end: number, isEnd = false): void {
  if (open.isList) open.list ??= [];
  else open.object ??= {};
  const from = open.unread;
  open.unread = end + 1;
  if (open.isPut) {
    open.isPut = false;
    if (!isBlank(text, from, end)) throw syntax(from);
    return;
  }
  if (isBlank(text, from, end)) {
    // Only an empty one has nothing between its brackets.
    if (!isEnd || from !== open.start + 1) throw syntax(end);
    return;
  }
  addRun(open, text.slice(from, end));
}

function addRun(open: Open, run: string): void {
  if (open.list !== undefined) {
    for (const item of parseJson(`[${run}]`) as unknown[]) open.list.push(item);
    return;
  }
  const read = parseJson(`{${run}}`) as Record<string, unknown>;
  for (const key of Object.keys(read)) addMember(open, key, read[key]);
}

function addMember(open: Open, key: string, value: unknown): void {
  open.width ??= new WidthNote();
  open.width.add(key);
  if (open.width.members > MAX_MEMBERS) throw tooMuch(`has an object with more than ${MAX_MEMBERS} members`);
  if (open.object === undefined) return;
  // Defined, not assigned: `__proto__` is a key like any other.
  if (key === '__proto__')
    Object.defineProperty(open.object, key, { value, enumerable: true, configurable: true, writable: true });
  else open.object[key] = value;
}

/** Puts a large part in, after what stands before it. */
function put(text: string, open: Open, start: number, part: unknown, end: number): void {
  if (open.isPut) throw syntax(start);
  if (open.isList) open.list ??= [];
  else open.object ??= {};
  if (open.item > open.unread) addRun(open, text.slice(open.unread, open.item - 1));
  if (open.list !== undefined) {
    if (!isBlank(text, open.item, start)) throw syntax(start);
    open.list.push(part);
  } else addMember(open, keyBefore(text, open.item, start), part);
  open.unread = end + 1;
  open.isPut = true;
}

/** The key between these two. Found by its quotes: a pattern needs stack for each character, and a key may have millions. */
function keyBefore(text: string, from: number, value: number): string {
  const start = afterSpace(text, from);
  const after = text.charCodeAt(start) === QUOTE ? endOfString(text, start) : value;
  const colon = afterSpace(text, after);
  if (colon >= value || text.charCodeAt(colon) !== COLON || !isBlank(text, colon + 1, value))
    throw syntax(value);
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

const syntax = (at: number): SyntaxError => new SyntaxError(`Unexpected text in JSON at position ${at}`);

/** REQUEST_INVALID for its depth, REQUEST_TOO_LARGE for the number of its parts. */
const tooMuch = (
  what: string,
  code: 'REQUEST_TOO_LARGE' | 'REQUEST_INVALID' = 'REQUEST_TOO_LARGE',
): TurnbuckleError =>
  new TurnbuckleError(code, `The JSON ${what}.`, { hint: 'Nothing was done. Send less at once.' });
