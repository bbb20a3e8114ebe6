/** Writes a value with very many parts in slices; all others, nearly all, at once. */
import { isRecord } from '../is-record.js';
import { claimRoom, type Room } from './rooms.js';
import { inSlices, type Steps } from './slices.js';
import { hasSpelling, writeJson } from './spelling.js';
import { wideMembers } from './wide-objects.js';

/** So many parts are written at once. */
const FEW = 5_000;
const BATCH = 256;

/** As writeJson. A promise only for what would hold up others; the room of the value is free when it is text. */
export function writeInSlices(value: unknown): Promise<string> | string {
  if (!hasMoreParts(value, FEW * 4)) return writeJson(value);
  const room = roomIn(value);
  if (hasSpelling(value)) {
    room?.release();
    return writeJson(value);
  }
  const writing = inSlices(writeLarge(value));
  return room === undefined ? writing : writing.finally(() => room.release());
}

/** Its own, or that of a result in what was made around it. */
function roomIn(value: unknown): Room | undefined {
  if (!isRecord(value)) return undefined;
  return claimRoom(value) ?? (isRecord(value.result) ? claimRoom(value.result) : undefined);
}

/** The work of it, step by step. */
export function* writeLarge(value: unknown): Steps<string> {
  const pieces: string[] = [];
  yield* write(value, pieces);
  return pieces.join('');
}

function* write(value: unknown, pieces: string[]): Steps<void> {
  if (typeof value !== 'object' || value === null || isWrittenByItself(value) || !hasMoreParts(value, FEW)) {
    pieces.push(writeJson(value) ?? 'null');
    return;
  }
  if (Array.isArray(value)) yield* writeList(value, pieces);
  else yield* writeObject(value, pieces);
}

/** As JSON.stringify tells it: in data, `toJSON` is a key like any other. */
const isWrittenByItself = (value: object): boolean => typeof Reflect.get(value, 'toJSON') === 'function';

function* writeList(list: readonly unknown[], pieces: string[]): Steps<void> {
  pieces.push('[');
  let batch: unknown[] = [];
  let parts = 0;
  const flush = (isMore: boolean): void => {
    if (batch.length > 0) pieces.push(JSON.stringify(batch).slice(1, -1), isMore ? ',' : '');
    batch = [];
    parts = 0;
  };
  for (let at = 0; at < list.length; at += 1) {
    const item = list[at];
    const isLast = at === list.length - 1;
    const itemParts = count(item, FEW);
    if (itemParts <= FEW) {
      batch.push(item);
      parts += itemParts;
      if (batch.length < BATCH && parts <= FEW) continue;
      flush(!isLast);
    } else {
      flush(true);
      yield* write(item, pieces);
      if (!isLast) pieces.push(',');
    }
    yield;
  }
  flush(false);
  pieces.push(']');
}

function* writeObject(object: object, pieces: string[]): Steps<void> {
  let separator = '{';
  for (const [count, key] of Object.keys(object).entries()) {
    const part: unknown = Reflect.get(object, key);
    if (part === undefined || typeof part === 'function' || typeof part === 'symbol') continue;
    pieces.push(`${separator}${JSON.stringify(key)}:`);
    separator = ',';
    yield* write(part, pieces);
    if (count % BATCH === 0) yield;
  }
  pieces.push(separator === '{' ? '{}' : '}');
}

/** Looks at no more parts than that. */
export function hasMoreParts(value: unknown, max: number): boolean {
  return count(value, max) > max;
}

function count(value: unknown, max: number): number {
  // A long text is as much work as many short ones.
  if (typeof value === 'string') return 1 + (value.length >> 4);
  if (typeof value !== 'object' || value === null) return 1;
  let parts = 1;
  if (Array.isArray(value)) {
    if (value.length > max) return value.length;
    for (const item of value) {
      parts += count(item, max - parts);
      if (parts > max) return parts;
    }
    return parts;
  }
  parts += wideMembers(value) ?? 0;
  if (parts > max) return parts;
  for (const key in value) {
    parts += count(Reflect.get(value, key), max - parts);
    if (parts > max) return parts;
  }
  return parts;
}
