/** Rows of the table of requests, as values. */
import type { Row, Value } from '@turnbuckle/store';
import { PRIORITIES, type Priority, type RequestKind, type StewardRequest } from '../requests/request.js';
import type { RequestError, RequestState, RequestStatus } from '../requests/request-status.js';

/** Why the steps of a request are being undone. */
export type Ending = 'cancel' | 'fail';

/** The right to work on a request. It ends when another worker claims the request: nothing is recorded for it then. */
export interface Claim {
  readonly id: string;
  readonly owner: string;
  readonly attempt: number;
}

export interface ClaimedRequest {
  readonly claim: Claim;
  readonly request: StewardRequest;
  /** The name of the step to go on with; undefined: the first one. */
  readonly step: string | undefined;
  /** Results of the finished steps. */
  readonly data: Readonly<Record<string, unknown>>;
  readonly ending: Ending | undefined;
  /** Why it fails, if its steps are being undone for that. */
  readonly error: RequestError | undefined;
}

/** Energy is stored in thousandths of a unit. */
export const toUnits = (thousandths: number): number => thousandths / 1_000;

const textOf = (value: Value | undefined): string | undefined =>
  typeof value === 'string' ? value : undefined;

// The columns were written by this package, from values of these types.
const jsonOf = <T>(value: Value | undefined): T | undefined =>
  typeof value === 'string' ? (JSON.parse(value) as T) : undefined;

function toRequest(row: Row): StewardRequest {
  const requestedBy = textOf(row.requested_by);
  return {
    id: String(row.id),
    type: String(row.kind) as RequestKind,
    params: jsonOf<Record<string, unknown>>(row.params) ?? {},
    timestamp: String(row.timestamp),
    priority: toPriority(row.priority),
    ...(requestedBy === undefined ? {} : { requestedBy }),
  };
}

const toPriority = (value: Value | undefined): Priority => PRIORITIES[Number(value)] ?? 'medium';

export function toStatus(row: Row): RequestStatus {
  const { params: _, id, ...request } = toRequest(row);
  const error = jsonOf<RequestError>(row.error);
  const state = String(row.state) as RequestState;
  return {
    requestId: id,
    ...request,
    state,
    progress: Number(row.progress),
    message: String(row.message),
    energyConsumed: toUnits(Number(row.energy)),
    ...(state === 'completed' && row.result !== null ? { result: jsonOf<unknown>(row.result) } : {}),
    ...(state === 'failed' && error !== undefined ? { error } : {}),
    ...(row.waiting_for === 'approval' ? { waitingFor: 'approval' } : {}),
  };
}

/** Why it is being undone, if it is. */
export const toEnding = (row: Row): Pick<ClaimedRequest, 'ending' | 'error'> => ({
  ending: textOf(row.ending) as Ending | undefined,
  error: jsonOf<RequestError>(row.error),
});

export function toClaimed(row: Row): ClaimedRequest {
  return {
    claim: { id: String(row.id), owner: String(row.owner), attempt: Number(row.attempt) },
    request: toRequest(row),
    step: textOf(row.step),
    data: jsonOf<Record<string, unknown>>(row.data) ?? {},
    ...toEnding(row),
  };
}
