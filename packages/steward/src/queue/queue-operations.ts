/** What the daemon asks the thread of its queue for. Errors travel as data, since a thread passes on only their text. */
import type { WorkDatabase } from '@turnbuckle/store';
import { type ErrorCode, TurnbuckleError } from 'turnbuckle';
import { toTurnbuckleError } from 'turnbuckle/host';
import type { StewardRequest } from '../requests/request.js';
import type { RequestStatus, StewardMessage } from '../requests/request-status.js';
import { type AgentQuestion, type AgentReport, agentReport } from './agent-report.js';
import { emptyLog } from './erase-secrets.js';
import {
  type ApprovalFilter,
  type ApprovalPage,
  type InstallApproval,
  InstallApprovals,
  type InstallReply,
} from './install-approvals.js';
import { confirmEnergy } from './ledger.js';
import { prune } from './prune.js';
import { type ListFilter, RequestQueue } from './queue.js';
import { type ModeName, readMessageCursor, type StewardMode, writeMessageCursor } from './settings-table.js';

export interface RefreshQuestion {
  /** The number of the last message that is known; undefined: the last one that was read before a restart. */
  readonly after: number | undefined;
  readonly limit: number;
  /** The number of the last message that was read, if it has changed. */
  readonly readTo: number | undefined;
  readonly now: number;
}

export interface Refreshed {
  readonly messages: readonly StewardMessage[];
  readonly isActive: boolean;
  readonly mode: StewardMode;
}

export type Answer<T> =
  | { readonly value: T }
  | {
      readonly failure: {
        readonly code: ErrorCode;
        readonly message: string;
        readonly hint: string | undefined;
      };
    };

// A type, since an interface does not match the index signature of a thread's operations.
export type QueueOperations = {
  readonly enqueue: (request: StewardRequest, now: number) => Answer<RequestStatus>;
  readonly status: (id: string) => Answer<RequestStatus | undefined>;
  readonly list: (filter: ListFilter) => Answer<RequestStatus[]>;
  readonly cancel: (id: string, reason: string, now: number) => Answer<RequestStatus>;
  readonly cancelAllOf: (caller: string, reason: string, now: number) => Answer<number>;
  readonly setMode: (name: ModeName, isOn: boolean) => Answer<void>;
  readonly holdCaller: (caller: string | undefined) => Answer<void>;
  readonly takeEnergy: () => Answer<number>;
  readonly agentReport: (question: AgentQuestion) => Answer<AgentReport>;
  readonly confirmEnergy: (refs: readonly string[]) => Answer<void>;
  readonly releaseOwner: (worker: string, now: number) => Answer<number>;
  readonly isUndone: (id: string) => Answer<boolean>;
  readonly pendingApprovals: (filter: ApprovalFilter) => Answer<ApprovalPage>;
  readonly countApprovals: () => Answer<number>;
  readonly approval: (id: string) => Answer<InstallApproval | undefined>;
  readonly answerApproval: (id: string, reply: InstallReply) => Answer<InstallApproval>;
  readonly refresh: (question: RefreshQuestion) => Answer<Refreshed>;
  readonly markRead: (number: number) => Answer<void>;
};

const PRUNE_MS = 60_000;

export function createQueueOperations(database: WorkDatabase): QueueOperations {
  const queue = new RequestQueue(database);
  const approvals = new InstallApprovals(database);
  const maintain = createMaintenance(database, { queue, approvals });
  return {
    enqueue: (request, now) => answer(() => queue.enqueue(request, now)),
    status: (id) => answer(() => queue.status(id)),
    list: (filter) => answer(() => queue.list(filter)),
    cancel: (id, reason, now) => answer(() => queue.requestCancel(id, reason, now)),
    cancelAllOf: (caller, reason, now) => answer(() => queue.cancelAllOf(caller, reason, now)),
    setMode: (name, isOn) => answer(() => queue.setMode(name, isOn)),
    holdCaller: (caller) => answer(() => queue.holdCaller(caller)),
    takeEnergy: () => answer(() => queue.takeEnergy()),
    agentReport: (question) => answer(() => agentReport(database, question)),
    confirmEnergy: (refs) => answer(() => confirmEnergy(database, refs)),
    releaseOwner: (worker, now) => answer(() => queue.releaseOwner(worker, now)),
    isUndone: (id) => answer(() => queue.isUndone(id)),
    pendingApprovals: (filter) => answer(() => approvals.pending(filter)),
    countApprovals: () => answer(() => approvals.countPending()),
    approval: (id) => answer(() => approvals.get(id)),
    answerApproval: (id, reply) => answer(() => approvals.answer(id, reply)),
    markRead: (number) => answer(() => writeMessageCursor(database, number)),
    refresh: ({ after = readMessageCursor(database), limit, readTo, now }) =>
      answer(() => {
        if (readTo !== undefined) writeMessageCursor(database, readTo);
        maintain(now);
        const messages = limit > 0 ? queue.messagesAfter(after, limit) : [];
        return { messages, isActive: queue.hasActiveWork(), mode: queue.mode() };
      }),
  };
}

/** What is due with time: claims and approvals that expire, old rows. */
function createMaintenance(
  database: WorkDatabase,
  { queue, approvals }: { readonly queue: RequestQueue; readonly approvals: InstallApprovals },
): (now: number) => void {
  let prunedAt = 0;
  return (now) => {
    queue.releaseExpired(now);
    approvals.expire(now);
    emptyLog(database);
    if (Math.abs(now - prunedAt) < PRUNE_MS) return;
    prune(database, now);
    prunedAt = now;
  };
}

function answer<T>(run: () => T): Answer<T> {
  try {
    return { value: run() };
  } catch (error) {
    const { code, message, hint } = toTurnbuckleError(error);
    return { failure: { code, message, hint } };
  }
}

/** The value of an answer; throws the error if it is one. */
export function unwrap<T>(given: Answer<T>): T {
  if ('value' in given) return given.value;
  const { code, message, hint } = given.failure;
  throw new TurnbuckleError(code, message, { hint });
}
