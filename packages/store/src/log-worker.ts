/** The thread that owns the database: takes in the journal, answers questions, forgets what is too old. */
import { setTimeout as sleep } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import { inTransaction, openDatabase, type Row } from './database.js';
import { Ingester } from './ingest.js';
import type { Answer, Question, WorkerData } from './log-messages.js';
import { migrate } from './migrations.js';
import {
  callsOverTime,
  findInvocations,
  getInvocation,
  listServers,
  serverAnalytics,
  toolAnalytics,
} from './queries.js';
import { retain } from './retention.js';

const { file, journal, retention, wake } = workerData as WorkerData;
const port = parentPort;
if (port === null) throw new Error('This file is a worker.');

/** Records that arrive within it share a transaction. */
const BATCH_MS = 20;
const RETENTION_MS = 60_000;

const database = await openDatabase(file);
// Has to be said before there is a table.
database.exec('PRAGMA auto_vacuum = INCREMENTAL');
migrate(database);
const ingester = new Ingester(database, journal);
const flag = new Int32Array(wake);
let working: Promise<void> | undefined;
let retainedAt = 0;

/** Takes in everything there is, leaving room for questions between batches. */
async function work(): Promise<void> {
  await sleep(BATCH_MS);
  Atomics.store(flag, 0, 0);
  while (ingester.step() > 0) await sleep(0);
  if (Date.now() - retainedAt < RETENTION_MS) return;
  while (retain(database, retention, Date.now())) await sleep(0);
  retainedAt = Date.now();
}

function startWork(): Promise<void> {
  working ??= work().finally(() => {
    working = undefined;
    if (Atomics.load(flag, 0) === 1) void startWork();
  });
  return working;
}

async function answer(question: Question): Promise<Row[] | Row | undefined | number> {
  switch (question.ask) {
    case 'find':
      return findInvocations(database, question.filter);
    case 'get':
      return getInvocation(database, question.id);
    case 'tools':
      return toolAnalytics(database, question.since);
    case 'servers':
      return serverAnalytics(database, question.since);
    case 'known-servers':
      return listServers(database);
    case 'over-time':
      return callsOverTime(database, question);
    case 'server':
      return void inTransaction(database, () => {
        const { name, config, enabled, at, removed, tools, toolTokens } = question;
        database
          .prepare(
            `INSERT INTO servers (name, config, enabled, added_at, removed_at, tools, tool_tokens)
            VALUES (?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (name) DO UPDATE SET config = excluded.config, enabled = excluded.enabled,
              removed_at = excluded.removed_at, tools = coalesce(excluded.tools, tools),
              tool_tokens = coalesce(excluded.tool_tokens, tool_tokens)`,
          )
          .run(name, config, enabled ? 1 : 0, at, removed ? at : null, tools ?? null, toolTokens ?? null);
      });
    case 'flush':
      do await startWork();
      while (ingester.step() > 0);
      return ingester.skipped;
    case 'close':
      await startWork();
      database.close();
      return undefined;
  }
}

port.on('message', (message: Question | 'wake') => {
  if (message === 'wake') return void startWork();
  const reply = (body: Answer): void => {
    port.postMessage(body);
    if (message.ask === 'close') port.close();
  };
  answer(message).then(
    (value) => reply({ number: message.number, value }),
    (error: unknown) =>
      reply({ number: message.number, error: error instanceof Error ? error.message : String(error) }),
  );
});
