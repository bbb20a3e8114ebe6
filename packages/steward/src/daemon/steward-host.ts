/**
 * The steward inside the daemon: the queue in a thread, and worker processes while there is work. Nothing here waits for
 * the database or a worker, so the event loop of the daemon stays free.
 */
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { TurnbuckleError } from 'turnbuckle';
import type { LoadedConfig } from 'turnbuckle/host';
import type { ApprovalFilter, ApprovalPage } from '../queue/install-approvals.js';
import { QueueClient } from '../queue/queue-client.js';
import type { StewardMode } from '../queue/settings-table.js';
import {
  type Priority,
  parseRequest,
  REQUEST_KINDS,
  type RequestKind,
  type StewardRequest,
} from '../requests/request.js';
import type { RequestStatus, StewardMessage } from '../requests/request-status.js';
import { checkRequest } from '../work/check-change.js';
import type { WorkSettings } from '../work/services.js';
import { STEPS_FILE } from '../work/steps-file.js';
import { createWorkerPool, type WorkerPool, type WorkerTrouble } from '../workers/worker-pool.js';

export interface StewardHostOptions {
  /** The database of the parts of the daemon. */
  readonly file: string;
  readonly workers: () => number;
  /** Made anew for each pool. */
  readonly workSettings: () => Promise<WorkSettings>;
  /** As it is in effect now. */
  readonly configuration: () => Pick<LoadedConfig, 'servers'>;
  readonly onMessage: (message: StewardMessage) => void;
  readonly onTrouble: (trouble: WorkerTrouble) => void;
  readonly onFailure: (error: TurnbuckleError) => void;
  /** Variables of the host that workers get beside the standard ones. */
  readonly inheritEnv: readonly string[];
  /** The module of the steps; absent: the built one. */
  readonly steps?: string | undefined;
  readonly now?: (() => number) | undefined;
}

export interface NewRequest {
  readonly type: RequestKind;
  readonly params: Readonly<Record<string, unknown>>;
  readonly priority?: Priority | undefined;
  readonly requestedBy?: string | undefined;
}

const POLL_MS = 200;
/** Idle workers end after this time. */
const LINGER_MS = 60_000;

export class StewardHost {
  readonly #options: StewardHostOptions;
  #queue: QueueClient | undefined;
  #pool: Promise<WorkerPool> | undefined;
  /** The next pool starts when the one before has ended. */
  #ending: Promise<void> = Promise.resolve();
  #timer: NodeJS.Timeout | undefined;
  #idleSince: number | undefined;
  #isClosed = false;

  constructor(options: StewardHostOptions) {
    this.#options = options;
    // Requests of an earlier process go on. Without a database there are none, and none is created yet.
    if (existsSync(options.file)) this.#openQueue();
  }

  get queue(): QueueClient {
    return this.#queue ?? this.#openQueue();
  }

  /** Whether there were requests at all. */
  get isOpen(): boolean {
    return this.#queue !== undefined;
  }

  /** Whether requests wait for a worker or have one. */
  get isActive(): boolean {
    return this.#queue?.hasActiveWork() === true;
  }

  #openQueue(): QueueClient {
    const { file, now, onFailure } = this.#options;
    this.#queue = new QueueClient({ file, now, onChange: () => this.#wake(), onFailure });
    this.#timer = setInterval(() => this.#look(), POLL_MS).unref();
    return this.#queue;
  }

  /** Resolves with the id when the request is stored. It is worked on while the daemon runs. */
  async request({ type, params, priority = 'medium', requestedBy }: NewRequest): Promise<string> {
    const request: StewardRequest = {
      id: randomUUID(),
      type,
      params,
      priority,
      timestamp: new Date((this.#options.now ?? Date.now)()).toISOString(),
      ...(requestedBy !== undefined && { requestedBy }),
    };
    checkRequest(parseRequest(request), this.#options.configuration());
    const id = await this.queue.sendRequest(request);
    this.#wake();
    return id;
  }

  /** PATH_UNKNOWN if there is none, or it is another caller's. */
  async statusFor(id: string, caller: string | undefined): Promise<RequestStatus> {
    const status = await this.queue.getStatus(id);
    if (status !== undefined && (caller === undefined || status.requestedBy === caller)) return status;
    throw new TurnbuckleError('PATH_UNKNOWN', `There is no request "${id}".`, {
      hint: 'List the requests: turnbuckle steward list',
    });
  }

  async approvals(filter: ApprovalFilter): Promise<ApprovalPage> {
    return this.#queue === undefined ? { approvals: [] } : this.#queue.pendingApprovals(filter);
  }

  async countApprovals(): Promise<number> {
    return this.#queue === undefined ? 0 : this.#queue.countApprovals();
  }

  mode(): StewardMode {
    return this.#queue?.mode() ?? { paused: false, stopped: false };
  }

  /** Workers start again with the current settings. Their requests go on. */
  async restart(): Promise<void> {
    await this.#endPool();
    this.#wake();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#timer);
    await this.#endPool();
    await this.#queue?.close();
  }

  #look(): void {
    for (const message of this.queue.pollMessages()) this.#options.onMessage(message);
    if (this.queue.hasActiveWork()) this.#wake();
    else this.#endIfIdle();
  }

  #wake(): void {
    if (this.#isClosed || this.#queue === undefined || this.#queue.mode().stopped) return;
    this.#idleSince = undefined;
    if (this.#pool === undefined && !this.isActive) return;
    this.#pool ??= this.#startPool();
    void this.#pool.then((pool) => pool.wake()).catch(() => {});
  }

  #endIfIdle(): void {
    if (this.#pool === undefined) return;
    this.#idleSince ??= performance.now();
    if (performance.now() - this.#idleSince > LINGER_MS) void this.#endPool();
  }

  #startPool(): Promise<WorkerPool> {
    const { file, workers, workSettings, onTrouble, inheritEnv, steps = STEPS_FILE } = this.#options;
    const starting = this.#ending.then(workSettings).then((settings) =>
      createWorkerPool({
        database: file,
        workers: Array.from({ length: workers() }, () => [...REQUEST_KINDS]),
        steps,
        settings,
        releaseOwner: (worker) => this.queue.releaseOwner(worker),
        inheritEnv,
        onTrouble,
      }),
    );
    starting.catch((error: unknown) => {
      this.#pool = undefined;
      this.#options.onFailure(error instanceof TurnbuckleError ? error : startFailed(error));
    });
    return starting;
  }

  async #endPool(): Promise<void> {
    const pool = this.#pool;
    this.#pool = undefined;
    this.#idleSince = undefined;
    const before = this.#ending;
    this.#ending = before.then(async () => pool?.then((started) => started.close()).catch(() => {}));
    await this.#ending;
  }
}

const startFailed = (cause: unknown): TurnbuckleError =>
  new TurnbuckleError('INTERNAL', `The steward's workers cannot start: ${String(cause)}`, {
    cause,
    hint: 'Check the configuration: turnbuckle doctor',
  });
