/** A thin layer over SQLite: Node's own if it is stable, otherwise libsql. Both are synchronous. */
import { closeSync, openSync } from 'node:fs';
import { errorCode } from 'turnbuckle/light';

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
  /** Whether a transaction is on the disk when it ends, not only at the next checkpoint. */
  readonly syncEach?: boolean | undefined;
}

/** From this release on `node:sqlite` is available without a flag and without a warning. */
const NODE_WITH_SQLITE = 24;
const BUSY_MS = 5_000;
const WAL_BYTES = 16 * 1_024 * 1_024;

/**
 * With owner-only permissions; SQLite's other files inherit them. A file that exists is not opened: closing any
 * descriptor of it would drop the locks that SQLite holds on it for this process, and others could damage it.
 */
function createPrivately(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600));
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error;
  }
}

/** Opens the database: WAL, and files that shrink when much was deleted. */
export async function openDatabase(
  path: string,
  { readOnly = false, syncEach = false }: OpenOptions = {},
): Promise<Database> {
  if (!readOnly && path !== ':memory:') createPrivately(path);
  const database = withStorableTexts(await openDriver(path, readOnly));
  database.exec(`PRAGMA busy_timeout = ${BUSY_MS}`);
  if (readOnly) return database;
  // Must be set while the database is empty, before the journal mode.
  database.exec('PRAGMA auto_vacuum = INCREMENTAL');
  database.exec(`PRAGMA journal_mode = WAL; PRAGMA journal_size_limit = ${WAL_BYTES}`);
  database.exec(`PRAGMA synchronous = ${syncEach ? 'FULL' : 'NORMAL'}`);
  return database;
}

async function openDriver(path: string, readOnly: boolean): Promise<Database> {
  if (Number(process.versions.node.split('.')[0]) >= NODE_WITH_SQLITE) {
    // Imported by a variable: the types of the oldest supported Node do not know it.
    const name = 'node:sqlite';
    const { DatabaseSync } = (await import(name)) as {
      DatabaseSync: new (path: string, options: { readOnly: boolean }) => Database;
    };
    return new DatabaseSync(path, { readOnly });
  }
  const { default: Libsql } = await import('libsql');
  return new Libsql(path, { readonly: readOnly }) as unknown as Database;
}

/**
 * The text as the database keeps it. SQLite counts a NUL as the end of a text in some places and not in others, and one
 * driver reads only up to it. A lone surrogate has no UTF-8: without this, each driver and SQLite's JSON replace it differently.
 */
export const toStorableText = (text: string): string =>
  text.replaceAll('\0', '\u2400').replace(/\p{Cs}/gu, '\ufffd');

/** Every text passes here, whether it is stored or searched for: so what was stored is found by what it was. */
function withStorableTexts(driver: Database): Database {
  const toStorable = (value: Value): Value => (typeof value === 'string' ? toStorableText(value) : value);
  return {
    exec: (sql) => void driver.exec(sql),
    close: () => void driver.close(),
    prepare: (sql) => {
      const statement = driver.prepare(sql);
      return {
        run: (...values) => void statement.run(...values.map(toStorable)),
        all: (...values) => statement.all(...values.map(toStorable)),
      };
    },
  };
}

/** Runs the work in one transaction. The write lock is taken at its start, so that what it reads stays true. */
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
      // SQLite has rolled back itself, such as on a full disk: the original error counts.
    }
    throw error;
  }
}
