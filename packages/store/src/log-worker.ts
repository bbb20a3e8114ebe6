/** The thread that owns the database: takes in the journal, answers questions, forgets what is too old. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { type Database, openDatabase } from './database.js';
import { Ingester } from './ingest.js';
import type { Answer, Question, Trouble, WorkerData } from './log-messages.js';
import { migrate } from './migrations.js';
import {
  callsOverTime,
  findInvocations,
  getInvocation,
  listServers,
  loggedNames,
  serverAnalytics,
  toolAnalytics,
  unusedServers,
} from './queries.js';
import { type Retention, retain } from './retention.js';

/** Records that arrive within it share a transaction. */
const BATCH_MS = 250;
/** So long nothing has to come before the words of records are taken up. */
const QUIET_MS = 1_000;
const RETENTION_MS = 60_000;
const IDLE_MS = 600_000;
/** After a failure it is tried again, later each time. */
const FIRST_RETRY_MS = 500;
const LAST_RETRY_MS = 30_000;

class LogThread {
  readonly #database: Database;
  readonly #ingester: Ingester;
  readonly #retention: Retention;
  readonly #flag: Int32Array;
  readonly #tell: (trouble: Trouble) => void;
  readonly #idle: NodeJS.Timeout;
  #working: Promise<void> | undefined;
  #retry: NodeJS.Timeout | undefined;
  #retryMs = FIRST_RETRY_MS;
  #retainedAt = 0;
  #quiet: NodeJS.Timeout | undefined;
  #isClosing = false;

  constructor(database: Database, { journal, retention, wake }: WorkerData, tell: (it: Trouble) => void) {
    this.#database = database;
    this.#ingester = new Ingester(database, journal);
    this.#retention = retention;
    this.#flag = new Int32Array(wake);
    this.#tell = tell;
    // Time passes without calls too, and other processes leave something behind.
    this.#idle = setInterval(() => this.start(), IDLE_MS);
  }

  /** Takes in what there is, behind everybody's back; what goes wrong is told and tried again. */
  start(): void {
    if (this.#isClosing) return;
    this.#work().then(
      () => {
        this.#retryMs = FIRST_RETRY_MS;
      },
      (error: unknown) => {
        this.#tell({ trouble: messageOf(error) });
        clearTimeout(this.#retry);
        // Work that was under way when the end came: another try would keep the thread for ever.
        if (this.#isClosing) return;
        this.#retry = setTimeout(() => this.start(), this.#retryMs);
        this.#retryMs = Math.min(this.#retryMs * 2, LAST_RETRY_MS);
      },
    );
  }

  async answer(question: Question): Promise<unknown> {
    const database = this.#database;
    // Who asks wants to know of the latest call too.
    if (question.ask !== 'flush' && question.ask !== 'close') this.#takeInNow();
    switch (question.ask) {
      case 'find':
        if (question.filter.text !== undefined) this.#indexAll();
        return findInvocations(database, question.filter);
      case 'get':
        return getInvocation(database, question.id);
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
        do await this.#work();
        while (this.#ingester.step() > 0);
        this.#indexAll();
        return this.#ingester.skipped;
      case 'close':
        this.#isClosing = true;
        clearTimeout(this.#retry);
        clearInterval(this.#idle);
        clearTimeout(this.#quiet);
        // What cannot be taken in now is there for the next one.
        await this.#work().catch(() => {});
        clearTimeout(this.#quiet);
        database.close();
        return undefined;
    }
  }

  #work(): Promise<void> {
    this.#working ??= this.#takeIn()
      .finally(() => {
        this.#working = undefined;
      })
      .then(() => {
        if (Atomics.load(this.#flag, 0) === 1) this.start();
      });
    return this.#working;
  }

  /** What cannot be taken in now is told by the work behind. */
  #takeInNow(): void {
    try {
      while (this.#ingester.step() > 0);
    } catch {}
  }

  #indexAll(): void {
    while (this.#ingester.index());
  }

  /** A bit at a time, as long as nothing new comes. */
  #index(): void {
    try {
      if (!this.#ingester.index()) return;
      this.#quiet = setTimeout(() => this.#index()).unref();
    } catch (error) {
      this.#tell({ trouble: messageOf(error) });
    }
  }

  /** Leaves room for questions between batches. */
  async #takeIn(): Promise<void> {
    await sleep(BATCH_MS);
    Atomics.store(this.#flag, 0, 0);
    while (this.#ingester.step() > 0) await sleep(0);
    clearTimeout(this.#quiet);
    this.#quiet = setTimeout(() => this.#index(), QUIET_MS).unref();
    if (Date.now() - this.#retainedAt < RETENTION_MS) return;
    while (retain(this.#database, this.#retention, Date.now())) await sleep(0);
    this.#retainedAt = Date.now();
  }
}

async function openThread(data: WorkerData, port: MessagePort): Promise<LogThread> {
  const database = await openDatabase(data.file, { syncEach: data.durability === 'power' });
  migrate(database);
  return new LogThread(database, data, (trouble) => port.postMessage(trouble));
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

function listen(port: MessagePort, thread: Promise<LogThread>): void {
  const reply = async (question: Question): Promise<Answer> => {
    const { number } = question;
    try {
      return { number, value: await (await thread).answer(question) };
    } catch (error) {
      return { number, error: messageOf(error) };
    }
  };
  port.on('message', async (message: Question | 'wake') => {
    if (message === 'wake') return (await thread).start();
    const body = await reply(message);
    port.postMessage(body);
    if (message.ask === 'close') port.close();
  });
}

const port = parentPort;
if (port === null) throw new Error('This file is a worker.');
listen(port, openThread(workerData as WorkerData, port));
