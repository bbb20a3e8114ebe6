/** Moves what waits in the journal to the database, for a process without the thread that does it all the time. */
import { openDatabase } from './database.js';
import { Ingester } from './ingest.js';
import { databaseFile, journalDirectory } from './log-directory.js';
import { migrate } from './migrations.js';
import { DEFAULT_RETENTION, type Retention, retain } from './retention.js';

/** Also deletes old records if `retention` is given; limits that it leaves out have their defaults. */
export async function ingestJournal(directory: string, retention?: Partial<Retention>): Promise<void> {
  const database = await openDatabase(databaseFile(directory));
  try {
    migrate(database);
    const ingester = new Ingester(database, journalDirectory(directory));
    while (ingester.ingestBatch().lines > 0);
    if (retention === undefined) return;
    while (retain(database, { ...DEFAULT_RETENTION, ...retention }, Date.now()));
  } finally {
    database.close();
  }
}
