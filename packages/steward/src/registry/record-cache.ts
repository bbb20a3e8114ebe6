/**
 * Keeps the records of a registry in a private file: a line about the list, then one line for each record. It is read
 * and written in slices, since a registry has tens of thousands of records.
 */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import {
  fileStampSync,
  inSlices,
  makeDirectory,
  parseJson,
  readFileText,
  replacePrivateFile,
  type Steps,
} from 'turnbuckle/host';
import * as z from 'zod/mini';
import { MAX_RECORDS } from './record-list.js';
import { parseServerRecord, type ServerRecord, toEntry } from './server-record.js';

/** The records of one source, as they were at one moment. */
export interface RegistryContents {
  readonly records: readonly ServerRecord[];
  readonly skipped: number;
  /** When they were last brought up to date. */
  readonly readAt: number;
  /** When all of them were last read; after that, only changes were. */
  readonly fullAt: number;
  /** Changes since then are asked for next; absent: all records are. */
  readonly changedSince?: string | undefined;
  readonly etag?: string | undefined;
  /** The list has more records than are read. */
  readonly isCut: boolean;
}

export interface RecordCache {
  /** The kept contents; undefined if there are none, or the file is damaged. */
  read(): Promise<RegistryContents | undefined>;
  /** Throws what the file system throws. */
  write(contents: RegistryContents): Promise<void>;
  /** Changes when another process has written; undefined if there is no file. */
  stamp(): string | undefined;
}

const FORMAT = 1;
const MAX_CACHE_BYTES = 256 * 1024 * 1024;
const RECORDS_PER_STEP = 10;

const time = z.number().check(z.gte(0));
const HEADER = z.object({
  format: z.literal(FORMAT),
  source: z.string(),
  count: z.number().check(z.int(), z.gte(0), z.lte(MAX_RECORDS)),
  skipped: z.number(),
  readAt: time,
  fullAt: time,
  changedSince: z.optional(z.string()),
  etag: z.optional(z.string()),
  isCut: z.boolean(),
});

/** One file for each source, in a directory that is created when something is written. */
export function createRecordCache(directory: string, source: string): RecordCache {
  const key = createHash('sha256').update(source).digest('hex').slice(0, 32);
  const file = join(directory, `registry-${key}.ndjson`);
  return {
    read: async () => {
      try {
        const text = await readFileText(file, { maxBytes: MAX_CACHE_BYTES });
        return await inSlices(readContents(text, source));
      } catch {
        // Missing, unreadable or damaged: the registry is asked for everything.
        return undefined;
      }
    },
    write: async (contents) => {
      const text = await inSlices(writeContents(contents, source));
      makeDirectory(directory);
      replacePrivateFile(file, text);
    },
    stamp: () => {
      try {
        return fileStampSync(file);
      } catch {
        return undefined;
      }
    },
  };
}

function* readContents(text: string, source: string): Steps<RegistryContents | undefined> {
  let end = text.indexOf('\n');
  if (end === -1) return undefined;
  const { data: header } = HEADER.safeParse(parseJson(text.slice(0, end)));
  if (header === undefined || header.source !== source) return undefined;
  const records: ServerRecord[] = [];
  for (let start = end + 1; start < text.length; start = end + 1) {
    end = text.indexOf('\n', start);
    if (end === -1 || records.length === header.count) return undefined;
    const record = parseServerRecord(parseJson(text.slice(start, end)));
    if (record === undefined) return undefined;
    records.push(record);
    if (records.length % RECORDS_PER_STEP === 0) yield;
  }
  const { format: _format, source: _source, count, ...contents } = header;
  return records.length === count ? { ...contents, records } : undefined;
}

function* writeContents({ records, ...contents }: RegistryContents, source: string): Steps<string> {
  const lines = [JSON.stringify({ format: FORMAT, source, count: records.length, ...contents })];
  for (const record of records) {
    lines.push(JSON.stringify(toEntry(record)));
    if (lines.length % RECORDS_PER_STEP === 0) yield;
  }
  return `${lines.join('\n')}\n`;
}
