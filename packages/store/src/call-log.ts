/**
 * The call log from the outside: records are appended synchronously; everything else goes to the thread that owns the
 * database, so that no call ever waits for SQLite.
 */
import { Worker } from 'node:worker_threads';
import type { CallRecord } from './call-record.js';
import type { Row } from './database.js';
import type { IncidentRecord } from './incident-record.js';
import { type Durability, Journal } from './journal.js';
import { type ServerRecord, toFittingLine } from './journal-entry.js';
import { databaseFile, journalDirectory } from './log-directory.js';
import type { IngestFailure, LogQuery, LogResponse, WorkerData } from './log-messages.js';
import type { AnalyticsOrder, LogFilter, LogName, SpanFilter, Visible } from './queries/call-queries.js';
import type { IncidentFilter } from './queries/incident-queries.js';
import { DEFAULT_RETENTION, type Retention } from './retention.js';
import { journalBytes } from './segment.js';

export interface LogOptions {
  /** The directory of the journal and the database. */
  readonly directory: string;
  readonly durability?: Durability | undefined;
  readonly retention?: Partial<Retention> | undefined;
  /** How much may be queued for the database before records are kept without arguments and result (256 MB). */
  readonly maxJournalBytes?: number | undefined;
  /** Something is wrong with the log. Reported once, until it works again. */
  readonly onFailure?: ((error: Error) => void) | undefined;
}

/** Counts of records since the log was opened. */
export interface LogCounts {
  readonly kept: number;
  /** Those kept without arguments and result, because the journal was nearly full. */
  readonly bare: number;
  /** Not kept, because the journal was full. */
  readonly dropped: number;
  /** Not kept, because the write failed. */
  readonly refused: number;
}

/** What is not ingested by then is left for the next process. */
const CLOSE_MS = 30_000;

export class CallLog {
  readonly #options: LogOptions;
  readonly #journal: Journal;
  readonly #worker: Worker;
  readonly #wakeFlag: Int32Array;
  readonly #counts = { kept: 0, bare: 0, dropped: 0, refused: 0 };
  readonly #pending = new Map<
    number,
    { resolve: (value: unknown) => void; reject: (error: Error) => void }
  >();
  #lastRequestNumber = 0;
  #hasReportedFailure = false;
  #failure: Error | undefined;

  constructor(options: LogOptions) {
    const { directory, durability = 'process', retention, maxJournalBytes } = options;
    this.#options = options;
    const journal = journalDirectory(directory);
    this.#journal = new Journal({ directory: journal, durability, maxBytes: maxJournalBytes });
    const wake = new SharedArrayBuffer(4);
    this.#wakeFlag = new Int32Array(wake);
    const workerData: WorkerData = {
      file: databaseFile(directory),
      journal,
      durability,
      retention: { ...DEFAULT_RETENTION, ...retention },
      wake,
    };
    // Options of the host, such as --eval, are not meant for the thread.
    this.#worker = new Worker(workerFile(), { workerData, execArgv: [] });
    this.#worker.on('message', (message: LogResponse | IngestFailure) => {
      // The thread reports a failure once. A record that is written says nothing about those.
      if ('trouble' in message) options.onFailure?.(new Error(message.trouble));
      else this.#receive(message);
    });
    this.#worker.on('error', (error) => {
      options.onFailure?.(error);
      this.#fail(error);
    });
    this.#worker.on('exit', () => this.#fail(new Error('The log is closed.')));
    this.#worker.unref();
    this.#wake();
  }

  /** The kernel has it when this returns true. It never throws: what was not kept is counted, and reported once. */
  append(record: CallRecord): boolean {
    const room = this.#journal.capacity();
    if (room === 'none') {
      this.#counts.dropped += 1;
      this.#report(new Error('The log journal is full, so records are dropped.'));
      return false;
    }
    if (!this.#write(toFittingLine(record, room))) return false;
    this.#counts.kept += 1;
    if (room === 'bare') this.#counts.bare += 1;
    else this.#hasReportedFailure = false;
    return true;
  }

  /** The current state of a server; its totals are kept. Goes through the journal, so that it arrives before its calls. */
  recordServer(server: ServerRecord): boolean {
    return this.#write(JSON.stringify({ kind: 'server', server }));
  }

  /** Something that the daemon reports to its owner. False if it was not kept. */
  recordIncident(incident: IncidentRecord): boolean {
    return this.#journal.capacity() !== 'none' && this.#write(JSON.stringify({ kind: 'incident', incident }));
  }

  get counts(): LogCounts {
    return { ...this.#counts };
  }

  /** Bytes in the journal: what is not in the database yet, and what was written a moment ago. */
  get waitingBytes(): number {
    return journalBytes(journalDirectory(this.#options.directory));
  }

  /** False if the database thread is gone: records then stay in the journal for the next process. */
  get isUp(): boolean {
    return this.#failure === undefined;
  }

  find(filter: LogFilter = {}): Promise<Row[]> {
    return this.#query<Row[]>({ ask: 'find', filter });
  }

  get(id: string): Promise<Row | undefined> {
    return this.#query<Row | undefined>({ ask: 'get', id });
  }

  /** All names called so far; those that a caller may know are passed as `visible` to the other queries. */
  names(): Promise<LogName[]> {
    return this.#query<LogName[]>({ ask: 'names' });
  }

  incidents(filter: IncidentFilter = {}): Promise<Row[]> {
    return this.#query<Row[]>({ ask: 'incidents', incidents: filter });
  }

  /** The cost of the latest calls, the oldest first. */
  energySamples(): Promise<Row[]> {
    return this.#query<Row[]>({ ask: 'energy-samples' });
  }

  /** What callers spent in each minute since then, the oldest first. */
  energySpans(since: number): Promise<Row[]> {
    return this.#query<Row[]>({ ask: 'energy-spans', since });
  }

  /** What was spent by each caller on each tool, the most first. */
  energyTotals(since: number): Promise<Row[]> {
    return this.#query<Row[]>({ ask: 'energy-totals', since });
  }

  toolAnalytics(since = 0, order: AnalyticsOrder = 'calls', visible?: Visible): Promise<Row[]> {
    return this.#query<Row[]>({ ask: 'tools', since, order, visible });
  }

  serverAnalytics(since = 0, visible?: Visible): Promise<Row[]> {
    return this.#query<Row[]>({ ask: 'servers', since, visible });
  }

  unusedServers(since: number): Promise<Row[]> {
    return this.#query<Row[]>({ ask: 'unused', since });
  }

  callsOverTime(since: number, spanMs: number, only: SpanFilter = {}): Promise<Row[]> {
    return this.#query<Row[]>({ ask: 'over-time', since, spanMs, ...only });
  }

  servers(): Promise<Row[]> {
    return this.#query<Row[]>({ ask: 'known-servers' });
  }

  /** Resolves when everything appended so far can be found; with the number of unusable journal lines. */
  flush(): Promise<number> {
    return this.#query<number>({ ask: 'flush' });
  }

  /** Appended records stay: in the database, or in the journal for the next process. */
  async close(): Promise<void> {
    try {
      this.#journal.rotate();
    } catch (error) {
      // If the disk cannot be written, the segment stays open; the next process ingests it.
      this.#report(error instanceof Error ? error : new Error(String(error)));
    }
    if (this.#failure !== undefined) return;
    const gone = new Promise((resolve) => this.#worker.once('exit', resolve));
    // Only the thread may keep the process alive until it has ended, and not forever.
    this.#worker.ref();
    const timer = setTimeout(() => void this.#worker.terminate(), CLOSE_MS);
    await this.#query({ ask: 'close' }).catch(() => {});
    await gone;
    clearTimeout(timer);
  }

  #write(line: string): boolean {
    try {
      this.#journal.append(line);
    } catch (error) {
      this.#counts.refused += 1;
      this.#report(error instanceof Error ? error : new Error(String(error)));
      return false;
    }
    this.#wake();
    return true;
  }

  #report(error: Error): void {
    if (this.#hasReportedFailure) return;
    // Before the report, which may itself write to the log.
    this.#hasReportedFailure = true;
    this.#options.onFailure?.(error);
  }

  #wake(): void {
    if (Atomics.exchange(this.#wakeFlag, 0, 1) === 0) this.#worker.postMessage('wake');
  }

  #query<Value>(ask: LogQuery): Promise<Value> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    this.#lastRequestNumber += 1;
    const number = this.#lastRequestNumber;
    // A query is pending: the process stays alive until the response.
    this.#worker.ref();
    return new Promise((resolve, reject) => {
      // The thread responds with the type of the query: queries.ts.
      this.#pending.set(number, { resolve: resolve as (value: unknown) => void, reject });
      this.#worker.postMessage({ ...ask, number });
    });
  }

  #receive({ number, value, error }: LogResponse): void {
    const waiting = this.#pending.get(number);
    this.#pending.delete(number);
    if (this.#pending.size === 0) this.#worker.unref();
    if (error === undefined) waiting?.resolve(value);
    else waiting?.reject(new Error(error));
  }

  #fail(error: Error): void {
    this.#failure ??= error;
    for (const { reject } of this.#pending.values()) reject(error);
    this.#pending.clear();
  }
}

/** The built file, also when running from sources: a thread cannot load TypeScript. */
function workerFile(): URL {
  return new URL(
    import.meta.url.endsWith('.ts') ? '../dist/log-worker.js' : './log-worker.js',
    import.meta.url,
  );
}
