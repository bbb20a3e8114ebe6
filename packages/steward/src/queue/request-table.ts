/** Reads and changes single rows of the tables of the steward. Changes belong into a transaction of the caller. */
import type { Row, Value, WorkDatabase } from '@turnbuckle/store';
import type { RequestError, RequestState } from '../requests/request-status.js';
import { boundedJson, boundedLine } from './bounded-json.js';
import { eraseSecrets } from './erase-secrets.js';
import type { Claim } from './request-row.js';

export type Changes = Readonly<Record<string, Value>>;

/** The columns of a request that no worker has. */
export const RELEASED: Changes = { owner: null, lease_until: null };

export const finishedAs = (state: RequestState, now: number): Changes => ({
  ...RELEASED,
  state,
  finished_at: now,
  waiting_for: null,
});

export function findRequest(database: WorkDatabase, id: string): Row | undefined {
  return database.prepare('SELECT * FROM steward_requests WHERE id = ?').all(id)[0];
}

/** Columns of the request, while the claim holds. */
export function findClaimed(
  database: WorkDatabase,
  { id, owner, attempt }: Claim,
  columns = '*',
): Row | undefined {
  const [row] = database
    .prepare(
      `SELECT ${columns} FROM steward_requests
       WHERE id = ? AND owner = ? AND attempt = ? AND finished_at IS NULL`,
    )
    .all(id, owner, attempt);
  return row;
}

export function changeRequest(database: WorkDatabase, id: string, changes: Changes): void {
  const columns = Object.keys(changes).map((column) => `${column} = ?`);
  database
    .prepare(`UPDATE steward_requests SET ${columns.join(', ')} WHERE id = ?`)
    .run(...Object.values(changes), id);
}

/** The results of the finished steps, with those of one more. */
export function mergedData(row: Row, added: Readonly<Record<string, unknown>> | undefined): string {
  const known = String(row.data);
  if (added === undefined) return known;
  return boundedJson(
    { ...(JSON.parse(known) as object), ...added },
    'The intermediate result of the request',
  );
}

export function errorJson({ code, message, hint }: RequestError): string {
  return JSON.stringify({
    code,
    message: boundedLine(message),
    ...(hint === undefined ? {} : { hint: boundedLine(hint) }),
  });
}

/** After a request has ended: nobody has to answer for it, and nothing stays of it that may be a secret. */
export function closeRequest(database: WorkDatabase, id: string, now: number): void {
  withdrawApprovals(database, id, now);
  eraseSecrets(database, id);
}

export function withdrawApprovals(database: WorkDatabase, requestId: string, now: number): void {
  database
    .prepare(
      `UPDATE install_approvals SET answer = 'withdrawn', answered_at = ?
       WHERE request_id = ? AND answer IS NULL`,
    )
    .run(now, requestId);
}

export function hasPendingApproval(database: WorkDatabase, requestId: string): boolean {
  const pending = database.prepare(
    'SELECT 1 FROM install_approvals WHERE request_id = ? AND answer IS NULL LIMIT 1',
  );
  return pending.all(requestId).length > 0;
}
