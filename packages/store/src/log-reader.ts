/**
 * The log as a program of its own reads it, beside the process that writes it or after that has ended: straight
 * from the database, without a thread.
 */
import { existsSync } from 'node:fs';
import { type Database, openDatabase, type Row } from './database.js';
import { Ingester } from './ingest.js';
import { journalOf, logFileOf } from './log-directory.js';
import { migrate, shapeOf } from './migrations.js';
import {
  type AnalyticsOrder,
  callsOverTime,
  findInvocations,
  getInvocation,
  type LogFilter,
  listServers,
  type SpanFilter,
  serverAnalytics,
  toolAnalytics,
  unusedServers,
} from './queries.js';
import { listSegments } from './segment.js';

export class LogReader {
  readonly #database: Database;

  private constructor(database: Database) {
    this.#database = database;
  }

  /**
   * Undefined when nothing was ever logged there. What is in the journal is taken in first, so that the latest call is
   * there too. Throws when a newer release has written it.
   */
  static async open(directory: string): Promise<LogReader | undefined> {
    const file = logFileOf(directory);
    if (listSegments(journalOf(directory)).length > 0) await takeIn(directory).catch(unlessReadable(file));
    if (!existsSync(file)) return undefined;
    // What cannot be written can still be read: then the newest are not found by their words.
    await takeUpWords(directory).catch(() => {});
    const database = await openDatabase(file, { readOnly: true });
    if (shapeOf(database) > 0) return new LogReader(database);
    database.close();
    return undefined;
  }

  find(filter: LogFilter = {}): Row[] {
    return findInvocations(this.#database, filter);
  }

  get(id: string): Row | undefined {
    return getInvocation(this.#database, id);
  }

  toolAnalytics(since = 0, order: AnalyticsOrder = 'calls'): Row[] {
    return toolAnalytics(this.#database, { since, order });
  }

  serverAnalytics(since = 0): Row[] {
    return serverAnalytics(this.#database, { since });
  }

  unusedServers(since: number): Row[] {
    return unusedServers(this.#database, since);
  }

  servers(): Row[] {
    return listServers(this.#database);
  }

  callsOverTime(since: number, spanMs: number, only: SpanFilter = {}): Row[] {
    return callsOverTime(this.#database, { since, spanMs, ...only });
  }

  close(): void {
    this.#database.close();
  }
}

/** Whoever writes the log does this when it is quiet; a search cannot wait for that. */
async function takeUpWords(directory: string): Promise<void> {
  const database = await openDatabase(logFileOf(directory));
  try {
    if (shapeOf(database) === 0) return;
    const ingester = new Ingester(database, journalOf(directory));
    while (ingester.index());
  } finally {
    database.close();
  }
}

async function takeIn(directory: string): Promise<void> {
  const database = await openDatabase(logFileOf(directory));
  try {
    migrate(database);
    const ingester = new Ingester(database, journalOf(directory));
    while (ingester.step() > 0);
  } finally {
    database.close();
  }
}

/** A log that can only be read is read as it is; one that a newer release has written is not. */
const unlessReadable = (file: string) => async (error: unknown) => {
  if (!existsSync(file)) throw error;
  const database = await openDatabase(file, { readOnly: true });
  try {
    shapeOf(database);
  } finally {
    database.close();
  }
};
