/**
 * The steward as the loop of an agent sees it: requests go in and messages come out without waiting. What is read
 * synchronously comes from a copy in memory, which is refreshed in the background.
 */

import { ThreadClient } from '@turnbuckle/store';
import type { TurnbuckleError } from 'turnbuckle';
import { toTurnbuckleError } from 'turnbuckle/host';
import { parseRequest, type StewardRequest } from '../requests/request.js';
import type { RequestStatus, StewardMessage } from '../requests/request-status.js';
import type { AgentQuestion, AgentReport } from './agent-report.js';
import type { ApprovalFilter, ApprovalPage, InstallApproval, InstallReply } from './install-approvals.js';
import type { ListFilter } from './queue.js';
import { type Answer, type QueueOperations, unwrap } from './queue-operations.js';
import type { QueueThreadData } from './queue-thread.js';
import type { ModeName, StewardMode } from './settings-table.js';

export interface QueueClientOptions {
  /** The database: `<state directory>/work.db`. */
  readonly file: string;
  readonly now?: (() => number) | undefined;
  readonly refreshMs?: number | undefined;
  /** Workers have something to look at: a new request, a cancelled one, a pause. */
  readonly onChange?: (() => void) | undefined;
  /** The database cannot be read. Reported once, until it works again. */
  readonly onFailure?: ((error: TurnbuckleError) => void) | undefined;
}

const REFRESH_MS = 200;
/** More stay in the database until these are polled. */
const MAX_BUFFERED_MESSAGES = 1_000;

const threadFile = (): URL =>
  new URL(
    import.meta.url.endsWith('.ts') ? '../../dist/queue/queue-thread.js' : './queue-thread.js',
    import.meta.url,
  );

export class QueueClient {
  readonly #options: QueueClientOptions;
  readonly #now: () => number;
  readonly #thread: ThreadClient<QueueOperations>;
  #messages: StewardMessage[] = [];
  #lastMessage: number | undefined;
  #readTo: number | undefined;
  #storedReadTo: number | undefined;
  #isActive = false;
  #mode: StewardMode = { paused: false, stopped: false };
  #energy = 0;
  #energyPoll: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #hasReportedFailure = false;
  #isClosed = false;

  constructor(options: QueueClientOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
    const data: QueueThreadData = { file: options.file };
    this.#thread = new ThreadClient({ file: threadFile(), data });
    void this.#refresh();
  }

  /** Resolves with its id when it is stored: it survives a restart then. */
  async sendRequest(request: StewardRequest): Promise<string> {
    const checked = parseRequest(request);
    await this.#changed(this.#run((thread) => thread.run('enqueue', checked, this.#now())));
    this.#isActive = true;
    return checked.id;
  }

  getStatus(id: string): Promise<RequestStatus | undefined> {
    return this.#run((thread) => thread.run('status', id));
  }

  /** The newest first. */
  listRequests(filter: ListFilter = {}): Promise<RequestStatus[]> {
    return this.#run((thread) => thread.run('list', filter));
  }

  /** PATH_UNKNOWN without such a request. One that has ended stays as it is. */
  async cancelRequest(id: string, reason: string): Promise<RequestStatus> {
    return this.#changed(this.#run((thread) => thread.run('cancel', id, reason, this.#now())));
  }

  async cancelAllOf(caller: string, reason: string): Promise<number> {
    return this.#changed(this.#run((thread) => thread.run('cancelAllOf', caller, reason, this.#now())));
  }

  /** The messages since the last poll, in order. After a restart, it goes on where it was. */
  pollMessages(): StewardMessage[] {
    const messages = this.#messages;
    this.#messages = [];
    this.#readTo = messages.at(-1)?.number ?? this.#readTo;
    return messages;
  }

  /** The energy that was spent since the last poll, in units. What was spent just now comes with the next poll. */
  getSubAgentEnergyConsumption(): number {
    const energy = this.#energy;
    this.#energy = 0;
    this.#energyPoll ??= this.#pollEnergy();
    return energy;
  }

  /** For the agent of the daemon. Energy is confirmed when it is recorded, so that no crash loses or doubles any of it. */
  agentReport(question: AgentQuestion): Promise<AgentReport> {
    return this.#run((thread) => thread.run('agentReport', question));
  }

  confirmEnergy(refs: readonly string[]): Promise<void> {
    return this.#run((thread) => thread.run('confirmEnergy', refs));
  }

  /** Whether requests wait for a worker or have one. */
  hasActiveWork(): boolean {
    return this.#isActive;
  }

  /** As it was at the last refresh. */
  mode(): StewardMode {
    return this.#mode;
  }

  /** The running steps are interrupted, and repeated after `resume`. */
  pause(): Promise<void> {
    return this.#setMode('paused', true);
  }

  resume(): Promise<void> {
    return this.#setMode('paused', false);
  }

  /** The same for the requests of one caller, on its own behalf; undefined: they go on. */
  async holdCaller(caller: string | undefined): Promise<void> {
    await this.#changed(this.#run((thread) => thread.run('holdCaller', caller)));
    const { paused, stopped } = this.#mode;
    this.#mode = { paused, stopped, ...(caller !== undefined && { heldCaller: caller }) };
  }

  /** Lets workers work again after `stop`. */
  start(): Promise<void> {
    return this.#setMode('stopped', false);
  }

  /** Like `pause`, but cancelled requests wait, too. */
  stop(): Promise<void> {
    return this.#setMode('stopped', true);
  }

  /** A page of those that nobody has answered. */
  pendingApprovals(filter: ApprovalFilter = {}): Promise<ApprovalPage> {
    return this.#run((thread) => thread.run('pendingApprovals', filter));
  }

  countApprovals(): Promise<number> {
    return this.#run((thread) => thread.run('countApprovals'));
  }

  approval(id: string): Promise<InstallApproval | undefined> {
    return this.#run((thread) => thread.run('approval', id));
  }

  /** Once, and before it expires: otherwise ARGUMENTS_INVALID. */
  answerApproval(id: string, reply: Omit<InstallReply, 'now'>): Promise<InstallApproval> {
    const answered = this.#run((thread) => thread.run('answerApproval', id, { ...reply, now: this.#now() }));
    return this.#changed(answered);
  }

  /** Whether the steps of the request are being undone, or were. */
  isUndone(id: string): Promise<boolean> {
    return this.#run((thread) => thread.run('isUndone', id));
  }

  /** A worker process has ended: another one takes its requests. */
  releaseOwner(worker: string): Promise<number> {
    return this.#changed(this.#run((thread) => thread.run('releaseOwner', worker, this.#now())));
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    const readTo = this.#readTo;
    if (readTo !== undefined) await this.#run((thread) => thread.run('markRead', readTo)).catch(() => {});
    await this.#thread.close();
  }

  async #pollEnergy(): Promise<void> {
    try {
      this.#energy += await this.#run((thread) => thread.run('takeEnergy'));
    } catch (error) {
      this.#reportFailure(error);
    } finally {
      this.#energyPoll = undefined;
    }
  }

  async #setMode(name: ModeName, isOn: boolean): Promise<void> {
    await this.#changed(this.#run((thread) => thread.run('setMode', name, isOn)));
    this.#mode = { ...this.#mode, [name]: isOn };
  }

  async #changed<T>(change: Promise<T>): Promise<T> {
    const value = await change;
    this.#options.onChange?.();
    return value;
  }

  async #run<T>(ask: (thread: ThreadClient<QueueOperations>) => Promise<Answer<T>>): Promise<T> {
    return unwrap(await ask(this.#thread));
  }

  async #refresh(): Promise<void> {
    try {
      const readTo = this.#readTo === this.#storedReadTo ? undefined : this.#readTo;
      const refreshed = await this.#run((thread) =>
        thread.run('refresh', {
          after: this.#lastMessage,
          limit: MAX_BUFFERED_MESSAGES - this.#messages.length,
          readTo,
          now: this.#now(),
        }),
      );
      this.#storedReadTo = readTo ?? this.#storedReadTo;
      this.#messages.push(...refreshed.messages);
      this.#lastMessage = refreshed.messages.at(-1)?.number ?? this.#lastMessage;
      this.#isActive = refreshed.isActive;
      this.#mode = refreshed.mode;
      this.#hasReportedFailure = false;
    } catch (error) {
      this.#reportFailure(error);
    }
    if (this.#isClosed) return;
    this.#timer = setTimeout(() => void this.#refresh(), this.#options.refreshMs ?? REFRESH_MS).unref();
  }

  #reportFailure(error: unknown): void {
    if (this.#hasReportedFailure || this.#isClosed) return;
    this.#hasReportedFailure = true;
    this.#options.onFailure?.(toTurnbuckleError(error));
  }
}
