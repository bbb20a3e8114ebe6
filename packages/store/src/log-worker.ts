/** The thread that owns the database: ingests the journal, runs queries, deletes old records. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { type Database, openDatabase } from './database.js';
import { FailureReports, messageOf } from './failure-reports.js';
import { type IngestedBatch, Ingester } from './ingest.js';
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
} from './queries/call-queries.js';
import { energySamples, energySpans, energyTotals } from './queries/energy-queries.js';
import { findIncidents } from './queries/incident-queries.js';
import { TextIndex } from './queries/text-index.js';
import { type Retention, retain } from './retention.js';

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
  readonly #failures: FailureReports;
  readonly #indexFailures: FailureReports;
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
    this.#failures = new FailureReports((trouble) => tell({ trouble }));
    this.#indexFailures = new FailureReports((trouble) => tell({ trouble }));
    // Records expire without calls too, and other processes may leave segments.
    this.#idleTimer = setInterval(() => this.start(), IDLE_MS);
  }

  /** Ingests in the background; failures are reported and tried again. */
  start(): void {
    if (!this.#isClosing) void this.#runIngest();
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
      case 'incidents':
        return findIncidents(database, question.incidents);
      case 'tools':
        return toolAnalytics(database, question);
      case 'servers':
        return serverAnalytics(database, question);
      case 'unused':
        return unusedServers(database, question.since);
      case 'energy-samples':
        return energySamples(database);
      case 'energy-spans':
        return energySpans(database, question.since);
      case 'energy-totals':
        return energyTotals(database, question.since);
      case 'known-servers':
        return listServers(database);
      case 'names':
        return loggedNames(database);
      case 'over-time':
        return callsOverTime(database, question);
      case 'flush':
        return this.#flush();
      case 'close':
        this.#isClosing = true;
        clearTimeout(this.#retryTimer);
        clearInterval(this.#idleTimer);
        clearTimeout(this.#indexTimer);
        // What cannot be ingested now is left for the next process.
        await this.#runIngest();
        clearTimeout(this.#indexTimer);
        database.close();
        return undefined;
    }
  }

  /** Rejects if records of this process are still in the journal; those of others were reported. */
  async #flush(): Promise<number> {
    let batch: IngestedBatch;
    do {
      await this.#runIngest();
      batch = this.#ingester.ingestBatch();
    } while (batch.lines > 0);
    this.#textIndex.indexAll();
    const own = batch.failures.find(({ isOwn }) => isOwn);
    if (own !== undefined) throw own.error;
    return this.#ingester.skipped;
  }

  /** Never rejects. */
  #runIngest(): Promise<void> {
    this.#running ??= this.#ingest().then((errors) => {
      this.#running = undefined;
      this.#failures.update(errors);
      this.#planRetry(errors.length > 0);
      if (Atomics.load(this.#wakeFlag, 0) === 1) this.start();
    });
    return this.#running;
  }

  #planRetry(hasFailed: boolean): void {
    clearTimeout(this.#retryTimer);
    if (!hasFailed) this.#retryMs = FIRST_RETRY_MS;
    // Closed while it was working: another attempt would keep the thread alive forever.
    if (!hasFailed || this.#isClosing) return;
    this.#retryTimer = setTimeout(() => this.start(), this.#retryMs);
    this.#retryMs = Math.min(this.#retryMs * 2, MAX_RETRY_MS);
  }

  /** A failure is reported by the background work. */
  #ingestNow(): void {
    while (this.#ingester.ingestBatch().lines > 0);
  }

  /** A little at a time, as long as nothing new arrives. */
  #indexStep(): void {
    try {
      if (this.#textIndex.indexBatch()) this.#indexTimer = setTimeout(() => this.#indexStep()).unref();
      this.#indexFailures.update([]);
    } catch (error) {
      this.#indexFailures.update([error]);
    }
  }

  /** Leaves time for queries between batches. Resolves with what failed: a part that fails stops no other. */
  async #ingest(): Promise<unknown[]> {
    await sleep(BATCH_MS);
    Atomics.store(this.#wakeFlag, 0, 0);
    let batch = this.#ingester.ingestBatch();
    while (batch.lines > 0) {
      await sleep(0);
      batch = this.#ingester.ingestBatch();
    }
    clearTimeout(this.#indexTimer);
    this.#indexTimer = setTimeout(() => this.#indexStep(), INDEX_DELAY_MS).unref();
    const errors = batch.failures.map(({ error }) => error);
    try {
      await this.#retain();
    } catch (error) {
      errors.push(error);
    }
    return errors;
  }

  async #retain(): Promise<void> {
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
