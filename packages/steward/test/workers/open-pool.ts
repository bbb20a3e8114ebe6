/** A queue with real worker processes, as the daemon has it. */
import { existsSync, readFileSync } from 'node:fs';
import { temporaryDirectory, waitUntil } from '@turnbuckle/testing';
import { onTestFinished } from 'vitest';
import { QueueClient } from '../../src/queue/queue-client.js';
import { REQUEST_KINDS } from '../../src/requests/request.js';
import type { RequestStatus } from '../../src/requests/request-status.js';
import {
  createWorkerPool,
  type WorkerPool,
  type WorkerPoolOptions,
  type WorkerTrouble,
} from '../../src/workers/worker-pool.js';
import { type OpenQueue, openQueue } from '../queue/open-queue.js';

export const TEST_STEPS = new URL('test-steps.mjs', import.meta.url).href;

export interface LogLine {
  readonly id: string;
  readonly step: string;
  readonly what: 'start' | 'end' | 'undo';
  readonly pid: number;
  readonly at: number;
}

export interface OpenPool extends OpenQueue {
  readonly client: QueueClient;
  readonly file: string;
  readonly directory: string;
  readonly troubles: readonly WorkerTrouble[];
  startPool(count: number, times?: Pick<WorkerPoolOptions, 'leaseMs' | 'maxSilenceMs'>): WorkerPool;
  /** What the steps did. */
  readLog(id?: string): LogLine[];
  hasEffect(id: string, name: string): boolean;
  /** The process that a step started. */
  readPid(id: string): number;
  /** The status once the request has ended. */
  ended(id: string): Promise<RequestStatus>;
  started(id: string, step: string): Promise<LogLine>;
}

export async function openPool(): Promise<OpenPool> {
  const home = await temporaryDirectory();
  onTestFinished(home.remove);
  const file = home.file('work.db');
  const opened = await openQueue(file);
  const troubles: WorkerTrouble[] = [];
  const pools: WorkerPool[] = [];
  const client = new QueueClient({
    file,
    refreshMs: 50,
    onChange: () => {
      for (const pool of pools) pool.wake();
    },
  });
  onTestFinished(() => client.close());
  const startPool: OpenPool['startPool'] = (count, times) => {
    const pool = createWorkerPool({
      database: file,
      steps: TEST_STEPS,
      settings: { directory: home.path },
      ...times,
      workers: Array.from({ length: count }, () => REQUEST_KINDS),
      releaseOwner: (worker) => client.releaseOwner(worker),
      onTrouble: (trouble) => troubles.push(trouble),
    });
    pools.push(pool);
    onTestFinished(() => pool.close());
    return pool;
  };
  const readLog = (id?: string): LogLine[] =>
    existsSync(home.file('log'))
      ? readFileSync(home.file('log'), 'utf8')
          .split('\n')
          .filter((line) => line !== '')
          .map((line) => JSON.parse(line) as LogLine)
          .filter((line) => id === undefined || line.id === id)
      : [];
  return {
    ...opened,
    client,
    file,
    directory: home.path,
    troubles,
    startPool,
    readLog,
    hasEffect: (id, name) => existsSync(home.file(`${id}.${name}`)),
    readPid: (id) => Number(readFileSync(home.file(`${id}.pid`), 'utf8')),
    ended: async (id) => {
      const status = (): RequestStatus | undefined => opened.queue.status(id);
      await waitUntil(() => !['queued', 'in_progress'].includes(status()?.state ?? 'queued'));
      return status() as RequestStatus;
    },
    started: async (id, step) => {
      const find = (): LogLine | undefined =>
        readLog(id).find((line) => line.step === step && line.what === 'start');
      await waitUntil(() => find() !== undefined);
      return find() as LogLine;
    },
  };
}
