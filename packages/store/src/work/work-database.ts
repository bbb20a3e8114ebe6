/** Databases for other parts, beside the log: each part has its own tables in one file, and its own migrations. */
import { type Database, inTransaction, openDatabase } from '../database.js';

export interface WorkDatabase extends Database {
  /** Runs the work in one transaction; nothing of it stays if it throws. */
  transaction<T>(work: () => T): T;
}

export interface WorkDatabaseOptions {
  readonly file: string;
  /** Whose tables they are: a version is kept for each part. */
  readonly part: string;
  /** SQL that brings the tables of the part one version further. Steps are never changed, only added. */
  readonly steps: readonly string[];
}

/** Opens the file, and brings the tables of the part up to date. Throws if a newer release has written them. */
export async function openWorkDatabase({ file, part, steps }: WorkDatabaseOptions): Promise<WorkDatabase> {
  const database = await openDatabase(file, { syncEach: true });
  // What is deleted may be a secret: its bytes are overwritten.
  database.exec('PRAGMA secure_delete = ON');
  try {
    inTransaction(database, () => migratePart(database, part, steps));
  } catch (error) {
    database.close();
    throw error;
  }
  return {
    exec: (sql) => database.exec(sql),
    prepare: (sql) => database.prepare(sql),
    close: () => database.close(),
    transaction: (work) => inTransaction(database, work),
  };
}

function migratePart(database: Database, part: string, steps: readonly string[]): void {
  database.exec('CREATE TABLE IF NOT EXISTS parts (name TEXT PRIMARY KEY, version INTEGER NOT NULL)');
  const [row] = database.prepare('SELECT version FROM parts WHERE name = ?').all(part);
  const version = Number(row?.version ?? 0);
  if (version > steps.length)
    throw new Error(
      `The tables of "${part}" were written by a newer version of Turnbuckle (schema version ${version}).`,
    );
  if (version === steps.length) return;
  for (const step of steps.slice(version)) database.exec(step);
  database.prepare('INSERT OR REPLACE INTO parts (name, version) VALUES (?, ?)').run(part, steps.length);
}
