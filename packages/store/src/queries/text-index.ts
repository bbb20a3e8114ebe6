/** Makes records findable by their words. Apart from the ingest: it works on a database of every release. */
import { type Database, inTransaction, type Statement } from '../database.js';

const MAX_INDEXED_CHARACTERS = 4_096;
const BATCH_SIZE = 500;
/** Indexing a record costs more than inserting it, so it happens when there is nothing else to do. */
const INDEX = `
  INSERT INTO invocations_text (rowid, server, tool, caller, arguments, result, error)
  SELECT number, server, tool, caller, substr(arguments, 1, ${MAX_INDEXED_CHARACTERS}),
    substr(result, 1, ${MAX_INDEXED_CHARACTERS}),
    substr(CASE WHEN code IS NULL THEN error ELSE code || ' ' || coalesce(error, '') END, 1, ${MAX_INDEXED_CHARACTERS})
  FROM invocations WHERE number > coalesce((SELECT rowid FROM invocations_text ORDER BY rowid DESC LIMIT 1), 0)
  ORDER BY number LIMIT ?`;

export class TextIndex {
  readonly #database: Database;
  readonly #index: Statement;
  readonly #changes: Statement;

  constructor(database: Database) {
    this.#database = database;
    this.#index = database.prepare(INDEX);
    this.#changes = database.prepare('SELECT changes() AS changes');
  }

  /** Indexes the next records; false if there are no more. */
  indexBatch(): boolean {
    return inTransaction(this.#database, () => {
      this.#index.run(BATCH_SIZE);
      return Number(this.#changes.all()[0]?.changes) >= BATCH_SIZE;
    });
  }

  indexAll(): void {
    while (this.indexBatch());
  }
}
