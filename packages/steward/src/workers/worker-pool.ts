/** The worker processes of the steward, as the daemon sees them: started, restarted when they crash, ended with their children. */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { childEnvironment, ProcessTable } from 'turnbuckle/host';
import type { RequestKind } from '../requests/request.js';
import { killGroup } from './kill-group.js';
import { ALIVE_MS, type WorkerMessage } from './worker-messages.js';

export interface WorkerPoolOptions {
  /** The file of the database. */
  readonly database: string;
  /** For each worker the kinds of requests that it takes. */
  readonly workers: ReadonlyArray<readonly RequestKind[]>;
  /** The address of a module that exports a `StepModule`. */
  readonly steps: string;
  /** Data for the steps. */
  readonly settings?: unknown;
  /** A worker has ended: its requests may be claimed by another one. */
  readonly releaseOwner: (worker: string) => Promise<unknown>;
  /** After this time without a sign of life, other processes take its request. */
  readonly leaseMs?: number | undefined;
  /** A worker that says nothing for this time hangs, and is killed: it may hold the lock of the database. */
  readonly maxSilenceMs?: number | undefined;
  /** Variables of the host that workers get beside the standard ones. */
  readonly inheritEnv?: readonly string[] | undefined;
  /** A worker has ended unexpectedly, and what it wrote last. */
  readonly onTrouble?: ((trouble: WorkerTrouble) => void) | undefined;
}

export interface WorkerTrouble {
  readonly worker: string;
  readonly how: string;
  readonly stderr: string;
}

export interface WorkerPool {
  /** Workers look at the database now: after a new request, a cancel, a pause. */
  wake(): void;
  /** Ends all workers with their child processes, within two seconds. Their requests go on with the next pool. */
  close(): Promise<void>;
  /** Of the running workers, by their ids. */
  readonly pids: ReadonlyMap<string, number>;
}

const LEASE_MS = 15_000;
/** SQLite waits for a lock for up to 5 s, and the worker with it. */
const MAX_SILENCE_MS = 15_000;
const FIRST_RESTART_MS = 100;
const MAX_RESTART_MS = 30_000;
/** A worker that ran this long is restarted as fast as the first time. */
const STEADY_MS = 10_000;
const END_MS = 1_200;
/** One that hangs in the kernel is not waited for. */
const MAX_CLOSE_MS = 1_800;
const MAX_STDERR_LENGTH = 4_096;

export const createWorkerPool = (options: WorkerPoolOptions): WorkerPool => new Pool(options);

const workerFile = (): string =>
  fileURLToPath(
    new URL(
      import.meta.url.endsWith('.ts') ? '../../dist/workers/worker.js' : './worker.js',
      import.meta.url,
    ),
  );

class Pool implements WorkerPool {
  readonly #options: WorkerPoolOptions;
  readonly #children = new Map<string, ChildProcess>();
  readonly #restarts = new Set<NodeJS.Timeout>();
  /** Finds what workers left behind. */
  readonly #processes = new ProcessTable();
  readonly #releases = new Set<Promise<unknown>>();
  #isClosed = false;

  constructor(options: WorkerPoolOptions) {
    this.#options = options;
    for (const kinds of options.workers) this.#start(kinds, FIRST_RESTART_MS);
  }

  get pids(): ReadonlyMap<string, number> {
    return new Map([...this.#children].flatMap(([id, { pid }]) => (pid === undefined ? [] : [[id, pid]])));
  }

  wake(): void {
    for (const child of this.#children.values()) send(child, { type: 'wake' });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const timer of this.#restarts) clearTimeout(timer);
    const children = [...this.#children.values()];
    const exits = children.map((child) => new Promise((resolve) => child.once('exit', resolve)));
    for (const child of children) send(child, { type: 'end' });
    const timer = setTimeout(() => {
      for (const { pid } of children) killGroup(pid);
    }, END_MS);
    await Promise.race([Promise.all(exits), pause(MAX_CLOSE_MS, undefined, { ref: false })]);
    clearTimeout(timer);
    await Promise.all(this.#releases);
  }

  #start(kinds: readonly RequestKind[], restartMs: number): void {
    const { database, steps, settings = {}, leaseMs = LEASE_MS, inheritEnv = [] } = this.#options;
    const id = `worker-${randomUUID()}`;
    const child = spawn(process.execPath, [workerFile()], {
      env: childEnvironment(process.env, { env: {}, inheritEnv }),
      // A group of its own: its children can be ended with it, and Ctrl-C reaches only the daemon.
      detached: process.platform !== 'win32',
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
      windowsHide: true,
    });
    let stderr = '';
    child.stderr?.setEncoding('utf8').on('data', (part: string) => {
      stderr = `${stderr}${part}`.slice(-MAX_STDERR_LENGTH);
    });
    this.#children.set(id, child);
    const silence = this.#watchSilence(child);
    const startedAt = performance.now();
    const onEnd = (how: string): void => {
      clearInterval(silence);
      if (!this.#children.delete(id)) return;
      this.#onExit(id, child.pid);
      if (this.#isClosed) return;
      this.#options.onTrouble?.({ worker: id, how, stderr });
      const isSteady = performance.now() - startedAt > STEADY_MS;
      this.#restart(kinds, isSteady ? FIRST_RESTART_MS : restartMs);
    };
    child.once('exit', (code, signal) => onEnd(signal ?? `exit code ${code}`));
    // It could not be started, or a message could not be sent to it.
    child.on('error', (error) => (child.pid === undefined ? onEnd(error.message) : undefined));
    send(child, { type: 'settings', settings: { id, database, kinds, leaseMs, steps, settings } });
  }

  /** Counts intervals, not time: after a pause of the daemon itself, messages of the worker come first. */
  #watchSilence(child: ChildProcess): NodeJS.Timeout {
    const { maxSilenceMs = MAX_SILENCE_MS } = this.#options;
    let silentIntervals = 0;
    child.on('message', () => {
      silentIntervals = 0;
    });
    return setInterval(() => {
      silentIntervals += 1;
      if (silentIntervals * ALIVE_MS > maxSilenceMs) killGroup(child.pid);
    }, ALIVE_MS).unref();
  }

  #onExit(id: string, pid: number | undefined): void {
    killGroup(pid);
    // What still ran beside the repeated step could write into its files. If the release fails, the claim expires.
    const release = this.#processes
      .endOrphans()
      .then(() => this.#options.releaseOwner(id))
      .catch(() => {});
    this.#releases.add(release);
    void release.then(() => this.#releases.delete(release));
  }

  #restart(kinds: readonly RequestKind[], delayMs: number): void {
    const timer = setTimeout(() => {
      this.#restarts.delete(timer);
      this.#start(kinds, Math.min(delayMs * 2, MAX_RESTART_MS));
    }, delayMs);
    this.#restarts.add(timer);
  }
}

function send(child: ChildProcess, message: WorkerMessage): void {
  // One that has just ended is noticed by its exit.
  if (child.connected) child.send(message, () => {});
}
