/**
 * The log of calls, from the outside: records are appended on the spot, everything else is asked of the thread
 * that owns the database, so that no call ever waits for SQLite.
 */
import { Worker } from 'node:worker_threads';
import type { Row } from './database.js';
import { type Invocation, type ServerRecord, toLine } from './invocation.js';
import { type Durability, Journal } from './journal.js';
import { journalOf, logFileOf } from './log-directory.js';
import type { Answer, Ask, Trouble, WorkerData } from './log-messages.js';
import type { AnalyticsOrder, LogFilter, LogName, SpanFilter, Visible } from './queries.js';
import type { Retention } from './retention.js';
import { journalBytes } from './segment.js';

export interface LogOptions {
  /** Where the journal and the database are. */
  readonly directory: string;
  readonly durability?: Durability | undefined;
  readonly retention?: Partial<Retention> | undefined;
  /** How much may wait for the database before records are kept without arguments and result (256 MB). */
  readonly maxJournalBytes?: number | undefined;
  /** Something went wrong with the log. Told once, until it works again. */
  readonly onFailure?: ((error: Error) => void) | undefined;
}

/** How records fared since the log was opened. */
export interface LogCounts {
  readonly kept: number;
  /** Of those, the ones without arguments and result, because too much waited. */
  readonly bare: number;
  /** Not kept, because far too much waited. */
  readonly dropped: number;
  /** Not kept, because the disk did not take them. */
  readonly refused: number;
}

const DAY_MS = 24 * 3_600_000;
/** What is not taken in by then is there for the next one. */
const CLOSE_MS = 30_000;
const DEFAULT_RETENTION: Retention = { maxAgeMs: 30 * DAY_MS, maxBytes: 512 * 1_024 * 1_024 };

export class InvocationLog {
  readonly #options: LogOptions;
  readonly #journal: Journal;
  readonly #worker: Worker;
  readonly #flag: Int32Array;
  readonly #counts = { kept: 0, bare: 0, dropped: 0, refused: 0 };
  readonly #waiting = new Map<
    number,
    { resolve: (value: unknown) => void; reject: (error: Error) => void }
  >();
  #asked = 0;
  #inTrouble = false;
  #failure: Error | undefined;

  constructor(options: LogOptions) {
    const { directory, durability = 'process', retention, maxJournalBytes } = options;
    this.#options = options;
    const journal = journalOf(directory);
    this.#journal = new Journal({ directory: journal, durability, maxBytes: maxJournalBytes });
    const wake = new SharedArrayBuffer(4);
    this.#flag = new Int32Array(wake);
    const workerData: WorkerData = {
      file: logFileOf(directory),
      journal,
      durability,
      retention: { ...DEFAULT_RETENTION, ...retention },
      wake,
    };
    // What the host was started with, such as --eval, is not meant for the thread.
    this.#worker = new Worker(workerFile(), { workerData, execArgv: [] });
    this.#worker.on('message', (message: Answer | Trouble) => {
      if ('trouble' in message) this.#report(new Error(message.trouble));
      else this.#receive(message);
    });
    this.#worker.on('error', (error) => {
      this.#report(error);
      this.#fail(error);
    });
    this.#worker.on('exit', () => this.#fail(new Error('The log is closed.')));
    this.#worker.unref();
    this.#wake();
  }

  /** The kernel has it when this returns true. It never throws: what was not kept is counted, and told once. */
  append(invocation: Invocation): boolean {
    const room = this.#journal.room();
    if (room === 'none') {
      this.#counts.dropped += 1;
      this.#report(new Error('Too much waits to be taken into the log: records are left out.'));
      return false;
    }
    if (!this.#write(toLine(room === 'whole' ? invocation : withoutContent(invocation)))) return false;
    this.#counts.kept += 1;
    if (room === 'bare') this.#counts.bare += 1;
    else this.#inTrouble = false;
    return true;
  }

  /** What a server is now; its totals are kept. Takes the way of the calls, so that it arrives before them. */
  recordServer(server: ServerRecord): boolean {
    return this.#write(JSON.stringify({ kind: 'server', server }));
  }

  get counts(): LogCounts {
    return { ...this.#counts };
  }

  /** How many bytes lie in the journal: what waits for the database, and what was written a moment ago. */
  get waitingBytes(): number {
    return journalBytes(journalOf(this.#options.directory));
  }

  /** False when the thread of the database is gone: records then stay in the journal for the next one. */
  get isUp(): boolean {
    return this.#failure === undefined;
  }

  find(filter: LogFilter = {}): Promise<Row[]> {
    return this.#ask<Row[]>({ ask: 'find', filter });
  }

  get(id: string): Promise<Row | undefined> {
    return this.#ask<Row | undefined>({ ask: 'get', id });
  }

  /** What was called so far: what of it somebody may know of is the `visible` of the other questions. */
  names(): Promise<LogName[]> {
    return this.#ask<LogName[]>({ ask: 'names' });
  }

  toolAnalytics(since = 0, order: AnalyticsOrder = 'calls', visible?: Visible): Promise<Row[]> {
    return this.#ask<Row[]>({ ask: 'tools', since, order, visible });
  }

  serverAnalytics(since = 0, visible?: Visible): Promise<Row[]> {
    return this.#ask<Row[]>({ ask: 'servers', since, visible });
  }

  unusedServers(since: number): Promise<Row[]> {
    return this.#ask<Row[]>({ ask: 'unused', since });
  }

  callsOverTime(since: number, spanMs: number, only: SpanFilter = {}): Promise<Row[]> {
    return this.#ask<Row[]>({ ask: 'over-time', since, spanMs, ...only });
  }

  servers(): Promise<Row[]> {
    return this.#ask<Row[]>({ ask: 'known-servers' });
  }

  /** Resolves when everything appended so far can be found; with how many lines of the journal were unusable. */
  flush(): Promise<number> {
    return this.#ask<number>({ ask: 'flush' });
  }

  /** What was appended stays: in the database, or in the journal for the next one. */
  async close(): Promise<void> {
    try {
      this.#journal.rotate();
    } catch (error) {
      // On a disk that takes no more writes the segment stays open; the next one to start takes it in.
      this.#report(error instanceof Error ? error : new Error(String(error)));
    }
    if (this.#failure !== undefined) return;
    const gone = new Promise((resolve) => this.#worker.once('exit', resolve));
    // Nothing else may keep the process until the thread is gone, and the thread not for ever.
    this.#worker.ref();
    const timer = setTimeout(() => void this.#worker.terminate(), CLOSE_MS);
    await this.#ask({ ask: 'close' }).catch(() => {});
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
    if (!this.#inTrouble) this.#options.onFailure?.(error);
    this.#inTrouble = true;
  }

  #wake(): void {
    if (Atomics.exchange(this.#flag, 0, 1) === 0) this.#worker.postMessage('wake');
  }

  #ask<Value>(ask: Ask): Promise<Value> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    this.#asked += 1;
    const number = this.#asked;
    // Somebody waits: the process stays until the answer is there.
    this.#worker.ref();
    return new Promise((resolve, reject) => {
      // The thread answers what the question asks for: queries.ts.
      this.#waiting.set(number, { resolve: resolve as (value: unknown) => void, reject });
      this.#worker.postMessage({ ...ask, number });
    });
  }

  #receive({ number, value, error }: Answer): void {
    const waiting = this.#waiting.get(number);
    this.#waiting.delete(number);
    if (this.#waiting.size === 0) this.#worker.unref();
    if (error === undefined) waiting?.resolve(value);
    else waiting?.reject(new Error(error));
  }

  #fail(error: Error): void {
    this.#failure ??= error;
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
  }
}

const withoutContent = ({
  arguments: _arguments,
  alsoSent: _alsoSent,
  result: _result,
  ...rest
}: Invocation): Invocation => rest;

/** The built one, also beside sources: a thread does not read TypeScript. */
function workerFile(): URL {
  return new URL(
    import.meta.url.endsWith('.ts') ? '../dist/log-worker.js' : './log-worker.js',
    import.meta.url,
  );
}
