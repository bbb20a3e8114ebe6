/** Reads the records of a list: a page of the API, a whole copy of a registry, or a bare array. */
import { inSlices, isRecord, LARGE_TEXT_LENGTH, parseJson, parseLarge, type Steps } from 'turnbuckle/host';
import { parseServerRecord, type ServerRecord } from './server-record.js';

export interface RecordList {
  readonly records: readonly ServerRecord[];
  /** Invalid records: they do not affect the others. */
  readonly skipped: number;
  /** The cursor of the next page. */
  readonly next: string | undefined;
}

/** More than the registries have; a list is cut after this many. */
export const MAX_RECORDS = 50_000;
const MAX_CURSOR_LENGTH = 2_048;
const MAX_DEPTH = 64;
const MAX_PARTS = 5_000_000;
const RECORDS_PER_STEP = 10;

/** Parses JSON without blocking for long. Throws SyntaxError, or TurnbuckleError if it has too many values. */
export async function parseRegistryJson(text: string): Promise<unknown> {
  if (text.length <= LARGE_TEXT_LENGTH) return parseJson(text);
  const { value } = await inSlices(parseLarge(text, { maxDepth: MAX_DEPTH, maxParts: MAX_PARTS }));
  return value;
}

/** The list in a parsed answer or file; undefined if it has another form. */
export async function readRecordList(value: unknown): Promise<RecordList | undefined> {
  const items = Array.isArray(value) ? value : isRecord(value) ? (value.servers ?? undefined) : undefined;
  // The API writes an empty list as null.
  if (items === undefined && isRecord(value) && value.servers === null)
    return { records: [], skipped: 0, next: cursorOf(value) };
  if (!Array.isArray(items)) return undefined;
  return inSlices(readItems(items, isRecord(value) ? cursorOf(value) : undefined));
}

function* readItems(items: readonly unknown[], next: string | undefined): Steps<RecordList> {
  const records: ServerRecord[] = [];
  const count = Math.min(items.length, MAX_RECORDS);
  for (let at = 0; at < count; at += 1) {
    const record = parseServerRecord(items[at]);
    if (record !== undefined) records.push(record);
    if (at % RECORDS_PER_STEP === 0) yield;
  }
  return { records, skipped: items.length - records.length, next };
}

function cursorOf({ metadata }: Readonly<Record<string, unknown>>): string | undefined {
  if (!isRecord(metadata)) return undefined;
  const cursor = metadata.nextCursor ?? metadata.next_cursor;
  const isUsable = typeof cursor === 'string' && cursor !== '' && cursor.length <= MAX_CURSOR_LENGTH;
  return isUsable ? cursor : undefined;
}
