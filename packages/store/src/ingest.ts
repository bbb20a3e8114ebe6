/**
 * From the journal into the database: in batches, each with the place it ends at in one transaction, so that
 * every record arrives exactly once whoever is killed when.
 */
import { closeSync, fstatSync, openSync, readdirSync, readSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type Database, inTransaction, type Statement, type Value } from './database.js';
import type { Invocation } from './invocation.js';
import { CLOSED, OPEN } from './journal.js';

const BATCH_BYTES = 256 * 1_024;
const NEWLINE = 0x0a;
const INDEXED_CHARACTERS = 4_096;

export class Ingester {
  readonly #database: Database;
  readonly #directory: string;
  readonly #insert: Statement;
  readonly #index: Statement;
  readonly #count: Statement;
  readonly #place: Statement;
  readonly #move: Statement;
  readonly #forget: Statement;
  /** Lines that were no records: a torn write, or somebody else's. */
  skipped = 0;

  constructor(database: Database, directory: string) {
    this.#database = database;
    this.#directory = directory;
    this.#insert = database.prepare(`
      INSERT OR IGNORE INTO invocations (id, started_at, duration_ms, conversation, caller, server, tool, tool_name,
        kind, arguments, arguments_bytes, result, result_bytes, success, outcome, code, error, attempts, decision,
        reason, era, energy)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      RETURNING number`);
    this.#index = database.prepare(`
      INSERT INTO invocations_text (rowid, server, tool, caller, arguments, result, error) VALUES (?, ?, ?, ?, ?, ?, ?)`);
    this.#count = database.prepare(`
      UPDATE servers SET calls = calls + 1, failures = failures + ?, total_ms = total_ms + ?,
        last_used_at = max(coalesce(last_used_at, 0), ?) WHERE name = ?`);
    this.#place = database.prepare('SELECT offset FROM segments WHERE name = ?');
    this.#move = database.prepare(
      'INSERT INTO segments (name, offset) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET offset = excluded.offset',
    );
    this.#forget = database.prepare('DELETE FROM segments WHERE name = ?');
  }

  /** Takes in one batch; how many records it had. Zero: there is nothing more for now. */
  step(): number {
    for (const file of this.#segments()) {
      const name = segmentName(file);
      // A dead writer adds nothing: whether it lives is asked before its file is read to the end.
      const isOver = file.endsWith(CLOSED) || !isAlive(file);
      const { records, atEnd } = this.#batch(file, name);
      if (atEnd && isOver) this.#finish(file, name);
      if (records > 0) return records;
    }
    return 0;
  }

  #segments(): string[] {
    return readdirSync(this.#directory)
      .filter((file) => file.endsWith(OPEN) || file.endsWith(CLOSED))
      .sort();
  }

  #batch(file: string, name: string): { readonly records: number; readonly atEnd: boolean } {
    return inTransaction(this.#database, () => {
      const offset = Number(this.#place.all(name)[0]?.offset ?? 0);
      const { lines, bytes, atEnd } = readLines(join(this.#directory, file), offset);
      let records = 0;
      for (const line of lines) {
        const record = parseRecord(line);
        if (record === undefined) this.skipped += 1;
        else {
          this.#take(record);
          records += 1;
        }
      }
      if (bytes > 0) this.#move.run(name, offset + bytes);
      return { records: records + (bytes > 0 && records === 0 ? 1 : 0), atEnd };
    });
  }

  #take(record: Invocation): void {
    const { server, tool, caller, error, outcome, durationMs, startedAt } = record;
    const success = outcome === 'ok' ? 1 : 0;
    const values: Value[] = [
      record.id,
      startedAt,
      durationMs,
      record.conversation ?? null,
      caller ?? null,
      server,
      tool,
      record.toolName,
      record.kind,
      record.arguments ?? null,
      record.argumentsBytes,
      record.result ?? null,
      record.resultBytes,
      success,
      outcome,
      record.code ?? null,
      error ?? null,
      record.attempts,
      record.decision ?? null,
      record.reason ?? null,
      record.era ?? null,
      record.energy ?? null,
    ];
    const number = this.#insert.all(...values)[0]?.number;
    if (number === undefined) return; // taken in before
    const words = (text: string | undefined): Value => text?.slice(0, INDEXED_CHARACTERS) ?? null;
    this.#index.run(
      number,
      server,
      tool,
      caller ?? null,
      words(record.arguments),
      words(record.result),
      words(error),
    );
    this.#count.run(1 - success, durationMs, startedAt, server);
  }

  /** The file first: a place without a file is harmless, a file without a place would be read again. */
  #finish(file: string, name: string): void {
    rmSync(join(this.#directory, file), { force: true });
    this.#forget.run(name);
  }
}

const segmentName = (file: string): string => file.slice(0, file.lastIndexOf('.'));

/** Whole lines from a place on, at most a batch of them. */
function readLines(
  path: string,
  offset: number,
): { readonly lines: string[]; readonly bytes: number; readonly atEnd: boolean } {
  const file = openIfThere(path);
  // It was renamed between our look and now: it is there under its other name at the next one.
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
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}

function parseRecord(line: string): Invocation | undefined {
  try {
    const record: Invocation = JSON.parse(line);
    return typeof record.id === 'string' && typeof record.server === 'string' ? record : undefined;
  } catch {
    return undefined;
  }
}

/** Whether the process that writes the segment still lives. */
function isAlive(file: string): boolean {
  const pid = Number(file.split('-')[1]);
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}
