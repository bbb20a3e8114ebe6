/** Serializes a value with very many parts in slices, and all others, nearly all, in one go. */
import { isRecord } from './is-record.js';
import { hasRawNumbers, writeJson } from './lossless-json.js';
import { claimReservation, type MemoryReservation } from './memory-budget.js';
import { inSlices, type Steps } from './slices.js';
import { wideMemberCount } from './wide-objects.js';

/** This many parts are serialized in one go. */
const MAX_PARTS_PER_STEP = 5_000;
const BATCH_SIZE = 256;

/**
 * Like writeJson. A promise only if it would block the event loop; the value's memory reservation ends when it is
 * text.
 */
export function writeInSlices(value: unknown): Promise<string> | string {
  if (!hasMorePartsThan(value, MAX_PARTS_PER_STEP * 4)) return writeJson(value);
  const room = claimReservationIn(value);
  if (hasRawNumbers(value)) {
    room?.release();
    return writeJson(value);
  }
  const writing = inSlices(writeLarge(value));
  return room === undefined ? writing : writing.finally(() => room.release());
}

/** Its own, or that of a result inside a wrapper. */
function claimReservationIn(value: unknown): MemoryReservation | undefined {
  if (!isRecord(value)) return undefined;
  return claimReservation(value) ?? (isRecord(value.result) ? claimReservation(value.result) : undefined);
}

/** The work, step by step. */
export function* writeLarge(value: unknown): Steps<string> {
  const pieces: string[] = [];
  yield* write(value, pieces);
  return pieces.join('');
}

function* write(value: unknown, pieces: string[]): Steps<void> {
  if (
    typeof value !== 'object' ||
    value === null ||
    hasToJson(value) ||
    !hasMorePartsThan(value, MAX_PARTS_PER_STEP)
  ) {
    pieces.push(writeJson(value) ?? 'null');
    return;
  }
  if (Array.isArray(value)) yield* writeList(value, pieces);
  else yield* writeObject(value, pieces);
}

/** As `JSON.stringify` does it: in data, `toJSON` is a key like any other. */
const hasToJson = (value: object): boolean => typeof Reflect.get(value, 'toJSON') === 'function';

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
    const itemParts = countParts(item, MAX_PARTS_PER_STEP);
    if (itemParts <= MAX_PARTS_PER_STEP) {
      batch.push(item);
      parts += itemParts;
      if (batch.length < BATCH_SIZE && parts <= MAX_PARTS_PER_STEP) continue;
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
    if (count % BATCH_SIZE === 0) yield;
  }
  pieces.push(separator === '{' ? '{}' : '}');
}

/** Stops counting at this limit. */
export function hasMorePartsThan(value: unknown, max: number): boolean {
  return countParts(value, max) > max;
}

function countParts(value: unknown, max: number): number {
  // A long text is as much work as many short ones.
  if (typeof value === 'string') return 1 + (value.length >> 4);
  if (typeof value !== 'object' || value === null) return 1;
  let parts = 1;
  if (Array.isArray(value)) {
    if (value.length > max) return value.length;
    for (const item of value) {
      parts += countParts(item, max - parts);
      if (parts > max) return parts;
    }
    return parts;
  }
  parts += wideMemberCount(value) ?? 0;
  if (parts > max) return parts;
  for (const key in value) {
    parts += countParts(Reflect.get(value, key), max - parts);
    if (parts > max) return parts;
  }
  return parts;
}
