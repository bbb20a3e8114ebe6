/**
 * The log for another program, while or after a process writes it: directly from the database, without a
 * thread.
 */
import { existsSync } from 'node:fs';
import { type Database, openDatabase, type Row } from './database.js';
import { ingestJournal } from './ingest-journal.js';
import { databaseFile, journalDirectory } from './log-directory.js';
import { schemaVersion, useCurrentShape } from './migrations.js';
import {
  type AnalyticsOrder,
  callsOverTime,
  findCalls,
  getCall,
  type LogFilter,
  listServers,
  type SpanFilter,
  serverAnalytics,
  toolAnalytics,
  unusedServers,
} from './queries/call-queries.js';
import { energyTotals } from './queries/energy-queries.js';
import { findIncidents, type IncidentFilter } from './queries/incident-queries.js';
import { TextIndex } from './queries/text-index.js';
import { listSegments } from './segment.js';

export class LogReader {
  readonly #database: Database;

  private constructor(database: Database) {
    this.#database = database;
  }

  /**
   * Undefined if nothing was ever logged there. The journal is ingested first, so that the latest call is included. Throws
   * if a newer release has written it.
   */
  static async open(directory: string): Promise<LogReader | undefined> {
    const file = databaseFile(directory);
    if (listSegments(journalDirectory(directory)).length > 0)
      await ingestJournal(directory).catch(ignoreIfReadable(file));
    if (!existsSync(file)) return undefined;
    // A read-only log can still be read: then the newest calls are not found by their words.
    await indexJournalText(directory).catch(() => {});
    const database = await openDatabase(file, { readOnly: true });
    if (schemaVersion(database) > 0) {
      useCurrentShape(database);
      return new LogReader(database);
    }
    database.close();
    return undefined;
  }

  find(filter: LogFilter = {}): Row[] {
    return findCalls(this.#database, filter);
  }

  get(id: string): Row | undefined {
    return getCall(this.#database, id);
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

  /** What was spent by each caller on each tool, the most first. */
  energyTotals(since: number): Row[] {
    return energyTotals(this.#database, since);
  }

  /** What the daemon reported to its owner. */
  incidents(filter: IncidentFilter = {}): Row[] {
    return findIncidents(this.#database, filter);
  }

  close(): void {
    this.#database.close();
  }
}

/** The writer of the log does this when it is idle; a search cannot wait for that. */
async function indexJournalText(directory: string): Promise<void> {
  const database = await openDatabase(databaseFile(directory));
  try {
    if (schemaVersion(database) === 0) return;
    new TextIndex(database).indexAll();
  } finally {
    database.close();
  }
}

/** A read-only log is read as it is; one that a newer release has written is not. */
const ignoreIfReadable = (file: string) => async (error: unknown) => {
  if (!existsSync(file)) throw error;
  const database = await openDatabase(file, { readOnly: true });
  try {
    schemaVersion(database);
  } finally {
    database.close();
  }
};
