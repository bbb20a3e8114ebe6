/**
 * From the journal into the database: in batches, each with the place it ends at in one transaction, so that
 * every record arrives exactly once whoever is killed when, also when two processes do it at once.
 */
import { closeSync, fstatSync, openSync, readSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { errorCode } from 'turnbuckle/light';
import { CALL_COLUMN_LIST, type CallColumn, type CallRecord } from './call-record.js';
import { type Database, inTransaction, type Statement, type Value } from './database.js';
import { parseEntry, type ServerRecord } from './journal-entry.js';
import { INSERT_INCIDENT, toIncidentValues } from './queries/incident-queries.js';
import { isOwnSegment, isSegmentFinished, listSegments, segmentName } from './segment.js';

const BATCH_BYTES = 256 * 1_024;
const NEWLINE = 0x0a;

/** `success` is for queries alone. */
const INSERT_COLUMNS: readonly string[] = [...CALL_COLUMN_LIST.map(({ column }) => column), 'success'];
const INSERT = `
  INSERT INTO invocations (${INSERT_COLUMNS.join(', ')}) VALUES (${INSERT_COLUMNS.map(() => '?').join(', ')})`;
const COUNT_CALL = `
  UPDATE servers SET calls = calls + 1, failures = failures + ?, total_ms = total_ms + ?,
    last_used_at = max(coalesce(last_used_at, 0), ?) WHERE name = ?`;
const UPSERT_SERVER = `
  INSERT INTO servers (name, config, enabled, added_at, removed_at, tools, tool_tokens)
  VALUES (?, ?, ?, ?, ?, ?, ?)
  ON CONFLICT (name) DO UPDATE SET config = excluded.config, enabled = excluded.enabled,
    removed_at = excluded.removed_at, tools = coalesce(excluded.tools, tools),
    tool_tokens = coalesce(excluded.tool_tokens, tool_tokens)`;
const SAVE_OFFSET = `
  INSERT INTO segments (name, offset) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET offset = excluded.offset`;

/** A segment, or the whole journal, that could not be ingested. */
export interface SegmentFailure {
  readonly error: unknown;
  /** Whether it may hold records of this process. */
  readonly isOwn: boolean;
}

export interface IngestedBatch {
  /** Zero: there is nothing more for now, and `failures` has all there are. */
  readonly lines: number;
  readonly failures: readonly SegmentFailure[];
}

export class Ingester {
  readonly #database: Database;
  readonly #directory: string;
  readonly #insert: Statement;
  readonly #count: Statement;
  readonly #server: Statement;
  readonly #incident: Statement;
  readonly #readOffset: Statement;
  readonly #saveOffset: Statement;
  readonly #deleteOffset: Statement;
  /** Lines that were no records: a torn write, or somebody else's. */
  skipped = 0;

  constructor(database: Database, directory: string) {
    this.#database = database;
    this.#directory = directory;
    this.#insert = database.prepare(INSERT);
    this.#count = database.prepare(COUNT_CALL);
    this.#server = database.prepare(UPSERT_SERVER);
    this.#incident = database.prepare(INSERT_INCIDENT);
    this.#readOffset = database.prepare('SELECT offset FROM segments WHERE name = ?');
    this.#saveOffset = database.prepare(SAVE_OFFSET);
    this.#deleteOffset = database.prepare('DELETE FROM segments WHERE name = ?');
  }

  /** Takes in one batch. Never throws: what cannot be read holds up neither the other segments nor the work that follows. */
  ingestBatch(): IngestedBatch {
    const failures: SegmentFailure[] = [];
    for (const file of this.#list(failures)) {
      try {
        const lines = this.#ingestSegment(file);
        if (lines > 0) return { lines, failures };
      } catch (error) {
        failures.push({ error, isOwn: isOwnSegment(file) });
      }
    }
    return { lines: 0, failures };
  }

  #list(failures: SegmentFailure[]): string[] {
    try {
      return listSegments(this.#directory);
    } catch (error) {
      failures.push({ error, isOwn: true });
      return [];
    }
  }

  #ingestSegment(file: string): number {
    const name = segmentName(file);
    // A dead writer adds nothing: check whether it is alive before its file is read to the end.
    const over = isSegmentFinished(this.#directory, file, Date.now());
    const { lines, atEnd } = this.#batch(file, name);
    if (atEnd && over) this.#finish(file, name);
    return lines;
  }

  #batch(file: string, name: string): { readonly lines: number; readonly atEnd: boolean } {
    const known = Number(this.#readOffset.all(name)[0]?.offset ?? 0);
    const size = sizeIfThere(join(this.#directory, file));
    // It was renamed between our look and now: it is there under its other name at the next one.
    if (size === undefined) return { lines: 0, atEnd: false };
    // Without the lock: most segments have nothing new.
    if (size <= known) return { lines: 0, atEnd: true };
    return inTransaction(this.#database, () => {
      const offset = Number(this.#readOffset.all(name)[0]?.offset ?? 0);
      const { lines, bytes, atEnd } = readLines(join(this.#directory, file), offset);
      for (const line of lines) this.#ingestLine(line);
      if (bytes > 0) this.#saveOffset.run(name, offset + bytes);
      return { lines: lines.length, atEnd };
    });
  }

  #ingestLine(line: string): void {
    const entry = parseEntry(line);
    if (entry === undefined) this.skipped += 1;
    else if (entry.kind === 'call') this.#insertCall(entry.call);
    else if (entry.kind === 'server') this.#upsertServer(entry.server);
    else this.#incident.run(...toIncidentValues(entry.incident));
  }

  #insertCall(record: CallRecord): void {
    const { server, outcome, durationMs, startedAt } = record;
    const success = outcome === 'ok' ? 1 : 0;
    this.#insert.run(...CALL_COLUMN_LIST.map(({ name, type }) => toValue(record[name], type)), success);
    this.#count.run(1 - success, durationMs, Math.trunc(startedAt), server);
  }

  #upsertServer({ name, config, enabled, at, removed, tools, toolTokens }: ServerRecord): void {
    const removedAt = removed ? at : null;
    this.#server.run(name, config, enabled ? 1 : 0, at, removedAt, tools ?? null, toolTokens ?? null);
  }

  /** The file first: a place without a file is harmless, a file without a place would be read again. */
  #finish(file: string, name: string): void {
    rmSync(join(this.#directory, file), { force: true });
    this.#deleteOffset.run(name);
  }
}

const toValue = (value: string | number | undefined, type: CallColumn['type']): Value =>
  value === undefined ? null : type === 'time' ? Math.trunc(Number(value)) : value;

const sizeIfThere = (path: string): number | undefined => statSync(path, { throwIfNoEntry: false })?.size;

/** Whole lines from a place on, at most a batch of them. */
function readLines(
  path: string,
  offset: number,
): { readonly lines: string[]; readonly bytes: number; readonly atEnd: boolean } {
  const file = openIfThere(path);
  if (file === undefined) return { lines: [], bytes: 0, atEnd: false };
  try {
    const { size } = fstatSync(file);
    let buffer = Buffer.alloc(Math.min(BATCH_BYTES, Math.max(size - offset, 0)));
    let read = readSync(file, buffer, 0, buffer.length, offset);
    let end = buffer.subarray(0, read).lastIndexOf(NEWLINE) + 1;
    if (end === 0 && offset + read < size) {
      // One record is larger than a batch.
      buffer = Buffer.alloc(size - offset);
      read = readSync(file, buffer, 0, buffer.length, offset);
      end = buffer.subarray(0, read).indexOf(NEWLINE) + 1;
    }
    const lines = end === 0 ? [] : buffer.toString('utf8', 0, end - 1).split('\n');
    return { lines, bytes: end, atEnd: end === 0 || offset + end >= size };
  } finally {
    closeSync(file);
  }
}

function openIfThere(path: string): number | undefined {
  try {
    return openSync(path, 'r');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}
