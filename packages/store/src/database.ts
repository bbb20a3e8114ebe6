/** SQLite behind a small seam: the one of Node where it has a settled one, else libsql. Both are synchronous. */
import { closeSync, openSync } from 'node:fs';

export type Value = string | number | bigint | null | Uint8Array;
export type Row = Readonly<Record<string, Value>>;

export interface Statement {
  run(...values: Value[]): void;
  all(...values: Value[]): Row[];
}

export interface Database {
  exec(sql: string): void;
  prepare(sql: string): Statement;
  close(): void;
}

export interface OpenOptions {
  readonly readOnly?: boolean | undefined;
  /** What was written is on the disk when a transaction ends, not only at the next checkpoint. */
  readonly syncEach?: boolean | undefined;
}

/** From this release on `node:sqlite` is there without a flag and without a warning. */
const NODE_WITH_SQLITE = 24;
const BUSY_MS = 5_000;
const WAL_BYTES = 16 * 1_024 * 1_024;

/** The database in its settled form: written ahead, and files that shrink when much was removed. */
export async function openDatabase(
  path: string,
  { readOnly = false, syncEach = false }: OpenOptions = {},
): Promise<Database> {
  // Made beforehand, for its owner alone; what SQLite puts beside it takes after it.
  if (!readOnly && path !== ':memory:') closeSync(openSync(path, 'a', 0o600));
  const database = await openDriver(path, readOnly);
  database.exec(`PRAGMA busy_timeout = ${BUSY_MS}`);
  if (readOnly) return database;
  // Has to be said before anything is in it, the mode of its journal included.
  database.exec('PRAGMA auto_vacuum = INCREMENTAL');
  database.exec(`PRAGMA journal_mode = WAL; PRAGMA journal_size_limit = ${WAL_BYTES}`);
  database.exec(`PRAGMA synchronous = ${syncEach ? 'FULL' : 'NORMAL'}`);
  return database;
}

async function openDriver(path: string, readOnly: boolean): Promise<Database> {
  if (Number(process.versions.node.split('.')[0]) >= NODE_WITH_SQLITE) {
    // Named by a variable: the types of the oldest Node that we run on do not know it.
    const name = 'node:sqlite';
    const { DatabaseSync } = (await import(name)) as {
      DatabaseSync: new (path: string, options: { readOnly: boolean }) => Database;
    };
    return new DatabaseSync(path, { readOnly });
  }
  const { default: Libsql } = await import('libsql');
  return new Libsql(path, { readonly: readOnly }) as unknown as Database;
}

/** All of the work or nothing of it. The lock for writing is taken at once, so that what is read in it stays true. */
export function inTransaction<T>(database: Database, work: () => T): T {
  database.exec('BEGIN IMMEDIATE');
  try {
    const result = work();
    database.exec('COMMIT');
    return result;
  } catch (error) {
    try {
      database.exec('ROLLBACK');
    } catch {
      // SQLite has done so itself, such as on a full disk: what went wrong is what counts.
    }
    throw error;
  }
}
