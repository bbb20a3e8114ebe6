/** The thread that owns the database: ingests the journal, runs queries, deletes old records. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { type Database, openDatabase } from './database.js';
import { Ingester } from './ingest.js';
import type { IngestFailure, LogRequest, LogResponse, WorkerData } from './log-messages.js';
import { migrate } from './migrations.js';
import {
  callsOverTime,
  findCalls,
  getCall,
  listServers,
  loggedNames,
  serverAnalytics,
  toolAnalytics,
  unusedServers,
} from './queries.js';
import { type Retention, retain } from './retention.js';
import { TextIndex } from './text-index.js';

/** Records that arrive within this time share a transaction. */
const BATCH_MS = 250;
/** How long it must be idle before words of records are indexed. */
const INDEX_DELAY_MS = 1_000;
const RETENTION_MS = 60_000;
const IDLE_MS = 600_000;
/** After a failure it tries again, with a growing delay. */
const FIRST_RETRY_MS = 500;
const MAX_RETRY_MS = 30_000;

class LogThread {
  readonly #database: Database;
  readonly #ingester: Ingester;
  readonly #textIndex: TextIndex;
  readonly #retention: Retention;
  readonly #wakeFlag: Int32Array;
  readonly #reportFailure: (trouble: IngestFailure) => void;
  readonly #idleTimer: NodeJS.Timeout;
  #running: Promise<void> | undefined;
  #retryTimer: NodeJS.Timeout | undefined;
  #retryMs = FIRST_RETRY_MS;
  #retainedAt = Number.NEGATIVE_INFINITY;
  #indexTimer: NodeJS.Timeout | undefined;
  #isClosing = false;

  constructor(
    database: Database,
    { journal, retention, wake }: WorkerData,
    tell: (it: IngestFailure) => void,
  ) {
    this.#database = database;
    this.#ingester = new Ingester(database, journal);
    this.#textIndex = new TextIndex(database);
    this.#retention = retention;
    this.#wakeFlag = new Int32Array(wake);
    this.#reportFailure = tell;
    // Records expire without calls too, and other processes may leave segments.
    this.#idleTimer = setInterval(() => this.start(), IDLE_MS);
  }

  /** Ingests in the background; failures are reported and tried again. */
  start(): void {
    if (this.#isClosing) return;
    this.#runIngest().then(
      () => {
        this.#retryMs = FIRST_RETRY_MS;
      },
      (error: unknown) => {
        this.#reportFailure({ trouble: messageOf(error) });
        clearTimeout(this.#retryTimer);
        // Closed while it was working: another attempt would keep the thread alive forever.
        if (this.#isClosing) return;
        this.#retryTimer = setTimeout(() => this.start(), this.#retryMs);
        this.#retryMs = Math.min(this.#retryMs * 2, MAX_RETRY_MS);
      },
    );
  }

  async answer(question: LogRequest): Promise<unknown> {
    const database = this.#database;
    // A query must include the latest call.
    if (question.ask !== 'flush' && question.ask !== 'close') this.#ingestNow();
    switch (question.ask) {
      case 'find':
        if (question.filter.text !== undefined) this.#textIndex.indexAll();
        return findCalls(database, question.filter);
      case 'get':
        return getCall(database, question.id);
      case 'tools':
        return toolAnalytics(database, question);
      case 'servers':
        return serverAnalytics(database, question);
      case 'unused':
        return unusedServers(database, question.since);
      case 'known-servers':
        return listServers(database);
      case 'names':
        return loggedNames(database);
      case 'over-time':
        return callsOverTime(database, question);
      case 'flush':
        do await this.#runIngest();
        while (this.#ingester.ingestBatch() > 0);
        this.#textIndex.indexAll();
        return this.#ingester.skipped;
      case 'close':
        this.#isClosing = true;
        clearTimeout(this.#retryTimer);
        clearInterval(this.#idleTimer);
        clearTimeout(this.#indexTimer);
        // What cannot be ingested now is left for the next process.
        await this.#runIngest().catch(() => {});
        clearTimeout(this.#indexTimer);
        database.close();
        return undefined;
    }
  }

  #runIngest(): Promise<void> {
    this.#running ??= this.#ingest()
      .finally(() => {
        this.#running = undefined;
      })
      .then(() => {
        if (Atomics.load(this.#wakeFlag, 0) === 1) this.start();
      });
    return this.#running;
  }

  /** A failure is reported by the background work. */
  #ingestNow(): void {
    try {
      while (this.#ingester.ingestBatch() > 0);
    } catch {}
  }

  /** A little at a time, as long as nothing new arrives. */
  #indexStep(): void {
    try {
      if (!this.#textIndex.indexBatch()) return;
      this.#indexTimer = setTimeout(() => this.#indexStep()).unref();
    } catch (error) {
      this.#reportFailure({ trouble: messageOf(error) });
    }
  }

  /** Leaves time for queries between batches. */
  async #ingest(): Promise<void> {
    await sleep(BATCH_MS);
    Atomics.store(this.#wakeFlag, 0, 0);
    while (this.#ingester.ingestBatch() > 0) await sleep(0);
    clearTimeout(this.#indexTimer);
    this.#indexTimer = setTimeout(() => this.#indexStep(), INDEX_DELAY_MS).unref();
    if (performance.now() - this.#retainedAt < RETENTION_MS) return;
    while (retain(this.#database, this.#retention, Date.now())) await sleep(0);
    this.#retainedAt = performance.now();
  }
}

async function openThread(data: WorkerData, port: MessagePort): Promise<LogThread> {
  const database = await openDatabase(data.file, { syncEach: data.durability === 'power' });
  migrate(database);
  return new LogThread(database, data, (trouble) => port.postMessage(trouble));
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

function listen(port: MessagePort, thread: Promise<LogThread>): void {
  const reply = async (question: LogRequest): Promise<LogResponse> => {
    const { number } = question;
    try {
      return { number, value: await (await thread).answer(question) };
    } catch (error) {
      return { number, error: messageOf(error) };
    }
  };
  port.on('message', async (message: LogRequest | 'wake') => {
    if (message === 'wake') return (await thread).start();
    const body = await reply(message);
    port.postMessage(body);
    if (message.ask === 'close') port.close();
  });
}

const port = parentPort;
if (port === null) throw new Error('This file must run in a worker thread.');
listen(port, openThread(workerData as WorkerData, port));
