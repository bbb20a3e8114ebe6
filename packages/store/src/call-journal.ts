/**
 * The log for a process that makes a few calls and ends, such as a command: it only appends to the journal. The next
 * process that opens the database ingests the records. Loads no database.
 */
import type { CallRecord } from './call-record.js';
import { type Durability, Journal } from './journal.js';
import { toFittingLine } from './journal-entry.js';
import { journalDirectory } from './log-directory.js';
import type { Retention } from './retention.js';
import { listSegments } from './segment.js';

export interface CallJournalOptions {
  /** The directory of the journal and the database. */
  readonly directory: string;
  readonly durability?: Durability | undefined;
  readonly retention?: Partial<Retention> | undefined;
  /** A record was not kept. Reported once. */
  readonly onFailure?: ((error: Error) => void) | undefined;
  /** How many files may wait before `close` ingests them (100). */
  readonly maxSegments?: number | undefined;
}

/** Each process leaves a file: without a daemon, nobody else would ingest them. */
const MAX_SEGMENTS = 100;

export class CallJournal {
  readonly #options: CallJournalOptions;
  #journal: Journal | undefined;
  #hasFailed = false;

  /** Creates nothing before the first record. */
  constructor(options: CallJournalOptions) {
    this.#options = options;
  }

  /** The kernel has it when this returns true. It never throws: the first record that was not kept is reported. */
  append(record: CallRecord): boolean {
    try {
      this.#journal ??= this.#open();
      const capacity = this.#journal.capacity();
      if (capacity === 'none') throw new Error('The log journal is full.');
      this.#journal.append(toFittingLine(record, capacity));
      return true;
    } catch (error) {
      this.#report(error);
      return false;
    }
  }

  /** Closes the file. If many files wait, they are ingested. */
  async close(): Promise<void> {
    if (this.#journal === undefined) return;
    const { directory, retention = {}, maxSegments = MAX_SEGMENTS } = this.#options;
    try {
      this.#journal.rotate();
      if (listSegments(journalDirectory(directory)).length <= maxSegments) return;
      const { ingestJournal } = await import('./ingest-journal.js');
      await ingestJournal(directory, retention);
    } catch (error) {
      // The records stay in the journal.
      this.#report(error);
    }
  }

  #open(): Journal {
    const { directory, durability = 'process' } = this.#options;
    return new Journal({ directory: journalDirectory(directory), durability });
  }

  #report(error: unknown): void {
    if (!this.#hasFailed)
      this.#options.onFailure?.(error instanceof Error ? error : new Error(String(error)));
    this.#hasFailed = true;
  }
}
