/** How long, and how much, is kept. */
import { type Database, inTransaction } from './database.js';
import { retainIncidents } from './queries/incident-queries.js';

export interface Retention {
  readonly maxAgeMs: number;
  readonly maxBytes: number;
}

const DAY_MS = 24 * 3_600_000;
export const DEFAULT_RETENTION: Retention = { maxAgeMs: 30 * DAY_MS, maxBytes: 512 * 1_024 * 1_024 };

const BATCH_ROWS = 500;

/** Deletes what is too old or too much, a little at a time; true while there is more to do. */
export function retain(database: Database, { maxAgeMs, maxBytes }: Retention, now: number): boolean {
  const old = removeOldest(database, 'started_at < ?', now - maxAgeMs);
  if (retainIncidents(database, now - maxAgeMs) || old === BATCH_ROWS) return true;
  if (sizeOf(database) <= maxBytes) return false;
  return removeOldest(database, '? IS NOT NULL', 0) > 0;
}

function removeOldest(database: Database, condition: string, value: number): number {
  const removed = inTransaction(database, () => {
    const numbers = database
      .prepare(`SELECT number FROM invocations WHERE ${condition} ORDER BY started_at LIMIT ${BATCH_ROWS}`)
      .all(value)
      .map((row) => Number(row.number));
    const index = database.prepare('DELETE FROM invocations_text WHERE rowid = ?');
    const record = database.prepare('DELETE FROM invocations WHERE number = ?');
    for (const number of numbers) {
      index.run(number);
      record.run(number);
    }
    return numbers.length;
  });
  if (removed > 0) database.exec('PRAGMA incremental_vacuum');
  return removed;
}

function sizeOf(database: Database): number {
  const read = (name: string): number =>
    Number(Object.values(database.prepare(`PRAGMA ${name}`).all()[0] ?? {})[0] ?? 0);
  return (read('page_count') - read('freelist_count')) * read('page_size');
}
