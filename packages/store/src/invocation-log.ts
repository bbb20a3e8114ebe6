/**
 * The log of calls, from the outside: records are appended on the spot, everything else is asked of the thread
 * that owns the database, so that no call ever waits for SQLite.
 */
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { Row } from './database.js';
import type { Invocation } from './invocation.js';
import { Journal } from './journal.js';
import type { Answer, Ask, ServerRecord, WorkerData } from './log-messages.js';
import type { LogFilter } from './queries.js';
import type { Retention } from './retention.js';

export interface LogOptions {
  /** Where the journal and the database are. */
  readonly directory: string;
  readonly durability?: 'process' | 'power' | undefined;
  readonly retention?: Partial<Retention> | undefined;
  /** The thread failed and is gone; records go on into the journal. */
  readonly onFailure?: ((error: Error) => void) | undefined;
}

const DAY_MS = 24 * 3_600_000;
const DEFAULT_RETENTION: Retention = { maxAgeMs: 30 * DAY_MS, maxBytes: 512 * 1_024 * 1_024 };

export class InvocationLog {
  readonly #journal: Journal;
  readonly #worker: Worker;
  readonly #flag: Int32Array;
  readonly #waiting = new Map<
    number,
    { resolve: (value: unknown) => void; reject: (error: Error) => void }
  >();
  #asked = 0;
  #failure: Error | undefined;

  constructor(options: LogOptions) {
    const { directory, durability = 'process', retention, onFailure } = options;
    const journal = join(directory, 'journal');
    this.#journal = new Journal({ directory: journal, durability });
    const wake = new SharedArrayBuffer(4);
    this.#flag = new Int32Array(wake);
    const workerData: WorkerData = {
      file: join(directory, 'log.db'),
      journal,
      retention: { ...DEFAULT_RETENTION, ...retention },
      wake,
    };
    this.#worker = new Worker(workerFile(), { workerData });
    this.#worker.unref();
    this.#worker.on('message', (answer: Answer) => this.#receive(answer));
    this.#worker.on('error', (error) => {
      this.#fail(error);
      onFailure?.(error);
    });
    this.#worker.on('exit', () => this.#fail(new Error('The log is closed.')));
    this.#wake();
  }

  /** The kernel has it when this returns. Throws when the disk does not take it. */
  append(invocation: Invocation): void {
    this.#journal.append(invocation);
    this.#wake();
  }

  find(filter: LogFilter = {}): Promise<Row[]> {
    return this.#ask({ ask: 'find', filter }) as Promise<Row[]>;
  }

  get(id: string): Promise<Row | undefined> {
    return this.#ask({ ask: 'get', id }) as Promise<Row | undefined>;
  }

  toolAnalytics(since = 0): Promise<Row[]> {
    return this.#ask({ ask: 'tools', since }) as Promise<Row[]>;
  }

  serverAnalytics(since = 0): Promise<Row[]> {
    return this.#ask({ ask: 'servers', since }) as Promise<Row[]>;
  }

  callsOverTime(since: number, spanMs: number): Promise<Row[]> {
    return this.#ask({ ask: 'over-time', since, spanMs }) as Promise<Row[]>;
  }

  servers(): Promise<Row[]> {
    return this.#ask({ ask: 'known-servers' }) as Promise<Row[]>;
  }

  async recordServer(server: ServerRecord): Promise<void> {
    await this.#ask({ ask: 'server', ...server });
  }

  /** Resolves when everything appended so far can be found; with how many lines of the journal were unusable. */
  flush(): Promise<number> {
    return this.#ask({ ask: 'flush' }) as Promise<number>;
  }

  async close(): Promise<void> {
    this.#journal.rotate();
    if (this.#failure !== undefined) return;
    const gone = new Promise((resolve) => this.#worker.once('exit', resolve));
    await this.#ask({ ask: 'close' });
    await gone;
  }

  #wake(): void {
    if (Atomics.exchange(this.#flag, 0, 1) === 0) this.#worker.postMessage('wake');
  }

  #ask(ask: Ask): Promise<unknown> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    this.#asked += 1;
    const number = this.#asked;
    // Somebody waits: the process stays until the answer is there.
    this.#worker.ref();
    return new Promise((resolve, reject) => {
      this.#waiting.set(number, { resolve, reject });
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

/** The built one, also beside sources: a thread does not read TypeScript. */
function workerFile(): URL {
  return new URL(
    import.meta.url.endsWith('.ts') ? '../dist/log-worker.js' : './log-worker.js',
    import.meta.url,
  );
}
