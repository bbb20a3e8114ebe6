/**
 * The requests of the steward in a database that several processes share. Every change is one transaction, and a worker
 * changes a request only while it holds the claim: each request has exactly one owner, and a killed one leaves no half.
 */
import type { Row, WorkDatabase } from '@turnbuckle/store';
import { PRIORITIES, type RequestKind, type StewardRequest } from '../requests/request.js';
import type {
  RequestError,
  RequestState,
  RequestStatus,
  StewardMessage,
} from '../requests/request-status.js';
import { hasActiveWork } from './agent-report.js';
import { boundedJson, boundedLine, resultJson } from './bounded-json.js';
import { keptParams } from './erase-secrets.js';
import { FAIR_ORDER, requireRoom } from './fair-share.js';
import {
  addEnergy,
  addMessages,
  type EnergyEntry,
  messagesAfter,
  type NewMessage,
  takeEnergy,
} from './ledger.js';
import { releaseExpired, releaseOwner } from './lost-claims.js';
import { idTaken, unknownRequest } from './queue-errors.js';
import {
  type Claim,
  type ClaimedRequest,
  type Ending,
  toClaimed,
  toEnding,
  toStatus,
} from './request-row.js';
import {
  type Changes,
  changeRequest,
  closeRequest,
  errorJson,
  findClaimed,
  findRequest,
  finishedAs,
  hasPendingApproval,
  mergedData,
  RELEASED,
  withdrawApprovals,
} from './request-table.js';
import { holdCaller, type ModeName, readMode, type StewardMode, setMode } from './settings-table.js';

const MAX_LISTED = 500;

export interface ClaimOptions {
  /** The id of the worker: of one process, never used again. */
  readonly worker: string;
  readonly kinds: readonly RequestKind[];
  readonly leaseMs: number;
  readonly now: number;
}

/** What is stored in the same transaction as a change of a request. */
export interface Recorded {
  readonly now: number;
  readonly energy?: readonly EnergyEntry[] | undefined;
  readonly messages?: readonly NewMessage[] | undefined;
}

export interface FinishedStep extends Recorded {
  /** The name of the next step. */
  readonly next: string;
  /** Merged into the results of the finished steps. */
  readonly data?: Readonly<Record<string, unknown>> | undefined;
  readonly progress: number;
  readonly message: string;
}

/** `ending`: nothing was recorded, since the request is being cancelled. `lost`: the claim has ended. */
export type RecordOutcome = 'recorded' | 'ending' | 'lost';

/** What a worker has to know while it runs a step. */
export interface ClaimState {
  readonly isOwned: boolean;
  readonly ending: Ending | undefined;
  /** Why it fails, if its steps have to be undone for that. */
  readonly error: RequestError | undefined;
  /** It must not go on now: its owner or the agent has paused it, or the steward is stopped. */
  readonly isHalted: boolean;
}

export interface ListFilter {
  readonly states?: readonly RequestState[] | undefined;
  readonly types?: readonly RequestKind[] | undefined;
  readonly requestedBy?: string | undefined;
  /** At most 500. */
  readonly limit?: number | undefined;
}

export class RequestQueue {
  readonly #database: WorkDatabase;

  constructor(database: WorkDatabase) {
    this.#database = database;
  }

  /** Idempotent: a request with a known id is the known one. OVERLOADED with too many open requests. */
  enqueue(request: StewardRequest, now: number): RequestStatus {
    const database = this.#database;
    const params = boundedJson(request.params, 'The parameters of the request');
    return database.transaction(() => {
      const known = findRequest(database, request.id);
      if (known !== undefined) {
        const stored = known.finished_at === null ? params : keptParams(params);
        if (known.kind === request.type && known.params === stored) return toStatus(known);
        throw idTaken(request.id);
      }
      requireRoom(database, request.requestedBy);
      const insert = database.prepare(
        `INSERT INTO steward_requests
           (id, kind, params, priority, timestamp, requested_by, state, message, queued_at)
         VALUES (?, ?, ?, ?, ?, ?, 'queued', 'Waiting for a worker.', ?) RETURNING *`,
      );
      const { id, type, priority, timestamp, requestedBy = null } = request;
      const [row] = insert.all(id, type, params, PRIORITIES.indexOf(priority), timestamp, requestedBy, now);
      return toStatus(row ?? {});
    });
  }

  /** The next request that no worker has, in the order of FAIR_ORDER. While paused: only what has to be undone. */
  claim({ worker, kinds, leaseMs, now }: ClaimOptions): ClaimedRequest | undefined {
    releaseExpired(this.#database, now);
    const { paused, stopped, heldCaller = '' } = this.mode();
    if (stopped) return undefined;
    const candidate = `SELECT number FROM steward_requests AS candidate
      WHERE finished_at IS NULL AND owner IS NULL AND waiting_for IS NULL
        AND kind IN (SELECT value FROM json_each(?)) ${paused ? 'AND ending IS NOT NULL' : ''}
        AND (ending IS NOT NULL OR requested_by IS NULL OR requested_by <> ?)
      ORDER BY ${FAIR_ORDER} LIMIT 1`;
    const among = JSON.stringify(kinds);
    // Polled often: without work nothing is locked.
    if (this.#database.prepare(candidate).all(among, heldCaller, now).length === 0) return undefined;
    const [row] = this.#database
      .prepare(
        `UPDATE steward_requests
         SET state = 'in_progress', owner = ?, lease_until = ?, attempt = attempt + 1,
           turn = 1 + (SELECT max(turn) FROM steward_requests),
           message = CASE WHEN attempt = 0 THEN 'Started.' ELSE message END
         WHERE number = (${candidate}) RETURNING *`,
      )
      .all(worker, now + leaseMs, among, heldCaller, now);
    return row === undefined ? undefined : toClaimed(row);
  }

  /** False: the claim has ended. */
  renew({ id, owner, attempt }: Claim, leaseUntil: number): boolean {
    const renewed = this.#database.prepare(
      `UPDATE steward_requests SET lease_until = ?
       WHERE id = ? AND owner = ? AND attempt = ? AND finished_at IS NULL RETURNING number`,
    );
    return renewed.all(leaseUntil, id, owner, attempt).length > 0;
  }

  check(claim: Claim): ClaimState {
    // Asked often: without its data, which may be large.
    const row = findClaimed(this.#database, claim, 'ending, error, requested_by');
    const { paused, stopped, heldCaller } = this.mode();
    const isHeld = heldCaller !== undefined && row?.requested_by === heldCaller;
    return { isOwned: row !== undefined, ...toEnding(row ?? {}), isHalted: paused || stopped || isHeld };
  }

  /** Progress within a step. */
  report(
    claim: Claim,
    { progress, message, now }: { readonly progress: number; readonly message: string; readonly now: number },
  ): RecordOutcome {
    const line = boundedLine(message);
    return this.#record(claim, { now, messages: [progressMessage(progress, line)] }, () => ({
      progress,
      message: line,
    }));
  }

  recordStep(claim: Claim, step: FinishedStep): RecordOutcome {
    const { next, progress, messages = [] } = step;
    const message = boundedLine(step.message);
    const told = [...messages, progressMessage(progress, message)];
    return this.#record(claim, { ...step, messages: told }, (row) => ({
      step: next,
      data: mergedData(row, step.data),
      progress,
      message,
      losses: 0,
    }));
  }

  complete(claim: Claim, { result, ...recorded }: Recorded & { readonly result?: unknown }): RecordOutcome {
    const told: NewMessage = { type: 'completion', data: { state: 'completed', result } };
    return this.#record(claim, { ...recorded, messages: [...(recorded.messages ?? []), told] }, () => ({
      ...finishedAs('completed', recorded.now),
      progress: 100,
      message: 'Completed.',
      result: result === undefined ? null : resultJson(result),
    }));
  }

  /** Frees the worker until the approvals that the step asked for are answered. The step then runs again. */
  park(claim: Claim, { data, ...recorded }: Recorded & Pick<FinishedStep, 'data'>): RecordOutcome {
    const message = 'Waiting for an approval.';
    const told: NewMessage = {
      type: 'status_update',
      data: { state: 'in_progress', waitingFor: 'approval', message },
    };
    return this.#record(claim, { ...recorded, messages: [...(recorded.messages ?? []), told] }, (row) => ({
      ...RELEASED,
      // It may have been answered before the step ended.
      waiting_for: hasPendingApproval(this.#database, claim.id) ? 'approval' : null,
      data: mergedData(row, data),
      message,
      losses: 0,
    }));
  }

  /** Energy of a step that goes on. */
  spend(claim: Claim, recorded: Pick<Recorded, 'now' | 'energy'>): RecordOutcome {
    return this.#record(claim, { ...recorded, evenIfEnding: true }, () => ({}));
  }

  /** Before the steps are undone because one failed: a worker that goes on after this one undoes them, too. */
  beginUndo(
    claim: Claim,
    { error, ...recorded }: Recorded & { readonly error: RequestError },
  ): RecordOutcome {
    return this.#record(
      claim,
      { ...recorded, evenIfEnding: true },
      // A request that was cancelled meanwhile ends as cancelled.
      (row) => (row.ending === null ? { ending: 'fail', error: errorJson(error), losses: 0 } : {}),
    );
  }

  fail(claim: Claim, { error, ...recorded }: Recorded & { readonly error: RequestError }): RecordOutcome {
    const messages: NewMessage[] = [{ type: 'error', data: { state: 'failed', error } }];
    return this.#record(claim, { ...recorded, messages, evenIfEnding: true }, () => ({
      ...finishedAs('failed', recorded.now),
      message: boundedLine(error.message),
      error: errorJson(error),
    }));
  }

  /** After the steps of a cancelled request were undone. */
  finishCancel(claim: Claim, recorded: Recorded): RecordOutcome {
    const message = String(findRequest(this.#database, claim.id)?.message ?? '');
    const messages: NewMessage[] = [{ type: 'status_update', data: { state: 'cancelled', message } }];
    return this.#record(claim, { ...recorded, messages, evenIfEnding: true }, () =>
      finishedAs('cancelled', recorded.now),
    );
  }

  /** Gives the request back: it goes on at the same step when a worker claims it. */
  release(claim: Claim, recorded: Recorded): RecordOutcome {
    return this.#record(claim, { ...recorded, evenIfEnding: true }, () => RELEASED);
  }

  /** A request that never started is cancelled at once; otherwise a worker undoes its steps. PATH_UNKNOWN if there is none. */
  requestCancel(id: string, reason: string, now: number): RequestStatus {
    const database = this.#database;
    return database.transaction(() => {
      const row = findRequest(database, id);
      if (row === undefined) throw unknownRequest(id);
      if (row.finished_at !== null || row.ending !== null) return toStatus(row);
      const message = boundedLine(reason === '' ? 'Cancelled.' : `Cancelled: ${reason}`);
      withdrawApprovals(database, id, now);
      if (Number(row.attempt) > 0) {
        changeRequest(database, id, { ending: 'cancel', waiting_for: null, message, losses: 0 });
      } else {
        changeRequest(database, id, { ...finishedAs('cancelled', now), message });
        closeRequest(database, id, now);
        const told: NewMessage = { type: 'status_update', data: { state: 'cancelled', message } };
        addMessages(database, { requestId: id, at: now }, [told]);
      }
      return toStatus(findRequest(database, id) ?? row);
    });
  }

  /** All that the caller has asked for. Returns how many there were. */
  cancelAllOf(caller: string, reason: string, now: number): number {
    const open = this.#database
      .prepare(
        `SELECT id FROM steward_requests
         WHERE finished_at IS NULL AND ending IS NULL AND requested_by = ? LIMIT ?`,
      )
      .all(caller, MAX_LISTED);
    for (const { id } of open) this.requestCancel(String(id), reason, now);
    return open.length;
  }

  /** The worker has ended: its requests go on with another one. Returns how many there were. */
  releaseOwner(worker: string, now: number): number {
    return releaseOwner(this.#database, worker, now);
  }

  /** The same for workers that did not renew their claim in time. */
  releaseExpired(now: number): number {
    return releaseExpired(this.#database, now);
  }

  mode(): StewardMode {
    return readMode(this.#database);
  }

  setMode(name: ModeName, isOn: boolean): void {
    setMode(this.#database, name, isOn);
  }

  /** Whether its steps are being undone, or were: nothing may be added to it any more. */
  isUndone(id: string): boolean {
    const row = findRequest(this.#database, id);
    return row === undefined || row.ending !== null || row.state === 'failed' || row.state === 'cancelled';
  }

  /** What the finished steps of the other requests of a kind found, of those that are neither ended nor undone. */
  dataOfOthers(id: string, kind: RequestKind): Array<Readonly<Record<string, unknown>>> {
    return this.#database
      .prepare(
        `SELECT data FROM steward_requests
         WHERE finished_at IS NULL AND ending IS NULL AND kind = ? AND id <> ?`,
      )
      .all(kind, id)
      .map(({ data }) => JSON.parse(String(data)) as Record<string, unknown>);
  }

  /** The agent pauses what it has asked for itself; undefined: it goes on. */
  holdCaller(caller: string | undefined): void {
    holdCaller(this.#database, caller);
  }

  status(id: string): RequestStatus | undefined {
    const row = findRequest(this.#database, id);
    return row === undefined ? undefined : toStatus(row);
  }

  /** The newest first. */
  list({ states, types, requestedBy, limit = MAX_LISTED }: ListFilter = {}): RequestStatus[] {
    const conditions = [
      ['state IN (SELECT value FROM json_each(?))', states && JSON.stringify(states)],
      ['kind IN (SELECT value FROM json_each(?))', types && JSON.stringify(types)],
      ['requested_by = ?', requestedBy],
    ] as const;
    const used = conditions.flatMap(([sql, value]) => (value === undefined ? [] : [{ sql, value }]));
    const where = used.length === 0 ? '' : `WHERE ${used.map(({ sql }) => sql).join(' AND ')}`;
    return this.#database
      .prepare(`SELECT * FROM steward_requests ${where} ORDER BY number DESC LIMIT ?`)
      .all(...used.map(({ value }) => value), Math.min(Math.max(1, limit), MAX_LISTED))
      .map(toStatus);
  }

  messagesAfter(number: number, limit: number): StewardMessage[] {
    return messagesAfter(this.#database, number, limit);
  }

  /** In units; each entry once. */
  takeEnergy(): number {
    return takeEnergy(this.#database);
  }

  hasActiveWork(): boolean {
    return hasActiveWork(this.#database);
  }

  #record(
    claim: Claim,
    recorded: Recorded & { readonly evenIfEnding?: boolean },
    toChanges: (row: Row) => Changes,
  ): RecordOutcome {
    const database = this.#database;
    const { now, energy = [], messages = [], evenIfEnding = false } = recorded;
    return database.transaction(() => {
      const row = findClaimed(database, claim);
      if (row === undefined) return 'lost';
      if (row.ending !== null && !evenIfEnding) return 'ending';
      const spent = Number(row.energy) + addEnergy(database, energy, now);
      const changes = toChanges(row);
      changeRequest(database, claim.id, { ...changes, energy: spent });
      if (changes.finished_at !== undefined) closeRequest(database, claim.id, now);
      addMessages(database, { requestId: claim.id, at: now }, messages);
      return 'recorded';
    });
  }
}

const progressMessage = (progress: number, message: string): NewMessage => ({
  type: 'status_update',
  data: { state: 'in_progress', progress, message },
});
