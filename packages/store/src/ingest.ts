/**
 * From the journal into the database: in batches, each with the place it ends at in one transaction, so that
 * every record arrives exactly once whoever is killed when, also when two processes do it at once.
 */
import { closeSync, fstatSync, openSync, readSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type Database, inTransaction, type Statement } from './database.js';
import { type Invocation, parseEntry, type ServerRecord } from './invocation.js';
import { hasCode, isOver, listSegments, segmentName } from './segment.js';

const BATCH_BYTES = 256 * 1_024;
const NEWLINE = 0x0a;
const INDEXED_CHARACTERS = 4_096;
const INDEXED_AT_ONCE = 500;

const INSERT = `
  INSERT INTO invocations (id, started_at, duration_ms, conversation, caller, server, tool, tool_name,
    kind, arguments, arguments_bytes, result, result_bytes, success, outcome, code, error, attempts, decision,
    reason, approval, era, energy, also_sent)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;
/** Words cost more than the record itself: they are taken up when it is quiet. */
const INDEX = `
  INSERT INTO invocations_text (rowid, server, tool, caller, arguments, result, error)
  SELECT number, server, tool, caller, substr(arguments, 1, ${INDEXED_CHARACTERS}),
    substr(result, 1, ${INDEXED_CHARACTERS}),
    substr(CASE WHEN code IS NULL THEN error ELSE code || ' ' || coalesce(error, '') END, 1, ${INDEXED_CHARACTERS})
  FROM invocations WHERE number > coalesce((SELECT rowid FROM invocations_text ORDER BY rowid DESC LIMIT 1), 0)
  ORDER BY number LIMIT ?`;
const COUNT = `
  UPDATE servers SET calls = calls + 1, failures = failures + ?, total_ms = total_ms + ?,
    last_used_at = max(coalesce(last_used_at, 0), ?) WHERE name = ?`;
const SERVER = `
  INSERT INTO servers (name, config, enabled, added_at, removed_at, tools, tool_tokens)
  VALUES (?, ?, ?, ?, ?, ?, ?)
  ON CONFLICT (name) DO UPDATE SET config = excluded.config, enabled = excluded.enabled,
    removed_at = excluded.removed_at, tools = coalesce(excluded.tools, tools),
    tool_tokens = coalesce(excluded.tool_tokens, tool_tokens)`;
const MOVE = `
  INSERT INTO segments (name, offset) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET offset = excluded.offset`;

export class Ingester {
  readonly #database: Database;
  readonly #directory: string;
  readonly #insert: Statement;
  readonly #index: Statement;
  readonly #changes: Statement;
  readonly #count: Statement;
  readonly #server: Statement;
  readonly #place: Statement;
  readonly #move: Statement;
  readonly #forget: Statement;
  /** Lines that were no records: a torn write, or somebody else's. */
  skipped = 0;

  constructor(database: Database, directory: string) {
    this.#database = database;
    this.#directory = directory;
    this.#insert = database.prepare(INSERT);
    this.#index = database.prepare(INDEX);
    this.#changes = database.prepare('SELECT changes() AS changes');
    this.#count = database.prepare(COUNT);
    this.#server = database.prepare(SERVER);
    this.#place = database.prepare('SELECT offset FROM segments WHERE name = ?');
    this.#move = database.prepare(MOVE);
    this.#forget = database.prepare('DELETE FROM segments WHERE name = ?');
  }

  /** Makes some records findable by their words; false when all are. */
  index(): boolean {
    return inTransaction(this.#database, () => {
      this.#index.run(INDEXED_AT_ONCE);
      return Number(this.#changes.all()[0]?.changes) >= INDEXED_AT_ONCE;
    });
  }

  /** Takes in one batch; how many lines it had. Zero: there is nothing more for now. */
  step(): number {
    for (const file of listSegments(this.#directory)) {
      const name = segmentName(file);
      // A dead writer adds nothing: whether it lives is asked before its file is read to the end.
      const over = isOver(this.#directory, file, Date.now());
      const { lines, atEnd } = this.#batch(file, name);
      if (atEnd && over) this.#finish(file, name);
      if (lines > 0) return lines;
    }
    return 0;
  }

  #batch(file: string, name: string): { readonly lines: number; readonly atEnd: boolean } {
    const known = Number(this.#place.all(name)[0]?.offset ?? 0);
    const size = sizeIfThere(join(this.#directory, file));
    // It was renamed between our look and now: it is there under its other name at the next one.
    if (size === undefined) return { lines: 0, atEnd: false };
    // Without the lock: most segments have nothing new.
    if (size <= known) return { lines: 0, atEnd: true };
    return inTransaction(this.#database, () => {
      const offset = Number(this.#place.all(name)[0]?.offset ?? 0);
      const { lines, bytes, atEnd } = readLines(join(this.#directory, file), offset);
      for (const line of lines) this.#take(line);
      if (bytes > 0) this.#move.run(name, offset + bytes);
      return { lines: lines.length, atEnd };
    });
  }

  #take(line: string): void {
    const entry = parseEntry(line);
    if (entry === undefined) this.skipped += 1;
    else if (entry.kind === 'call') this.#takeCall(entry.call);
    else this.#takeServer(entry.server);
  }

  #takeCall(record: Invocation): void {
    const { server, tool, caller, error, outcome, durationMs } = record;
    const success = outcome === 'ok' ? 1 : 0;
    const startedAt = Math.trunc(record.startedAt);
    this.#insert.run(
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
      record.approval ?? null,
      record.era ?? null,
      record.energy ?? null,
      record.alsoSent ?? null,
    );
    this.#count.run(1 - success, durationMs, startedAt, server);
  }

  #takeServer({ name, config, enabled, at, removed, tools, toolTokens }: ServerRecord): void {
    const removedAt = removed ? at : null;
    this.#server.run(name, config, enabled ? 1 : 0, at, removedAt, tools ?? null, toolTokens ?? null);
  }

  /** The file first: a place without a file is harmless, a file without a place would be read again. */
  #finish(file: string, name: string): void {
    rmSync(join(this.#directory, file), { force: true });
    this.#forget.run(name);
  }
}

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
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}
