/** Requests whose worker has ended, or did not renew its claim in time, go on with another worker. */
import type { Row, Value, WorkDatabase } from '@turnbuckle/store';
import type { RequestError } from '../requests/request-status.js';
import { addMessages } from './ledger.js';
import { changeRequest, closeRequest, errorJson, finishedAs } from './request-table.js';

/** A request during which so many workers ended fails; its steps are undone, if that ends no more workers. */
const MAX_LOSSES = 5;
const MAX_LOSSES_WITH_UNDO = 8;

/** Releases the requests of a worker. Returns how many there were. */
export const releaseOwner = (database: WorkDatabase, worker: string, now: number): number =>
  releaseWhere(database, { condition: 'owner = ?', value: worker }, now);

export const releaseExpired = (database: WorkDatabase, now: number): number =>
  releaseWhere(database, { condition: 'owner IS NOT NULL AND lease_until <= ?', value: now }, now);

function releaseWhere(
  database: WorkDatabase,
  { condition, value }: { readonly condition: string; readonly value: Value },
  now: number,
): number {
  const lost = `finished_at IS NULL AND ${condition}`;
  // Looked for often: without one nothing is locked.
  if (database.prepare(`SELECT 1 FROM steward_requests WHERE ${lost} LIMIT 1`).all(value).length === 0)
    return 0;
  return database.transaction(() => {
    const rows = database
      .prepare(
        `UPDATE steward_requests SET owner = NULL, lease_until = NULL, losses = losses + 1
         WHERE ${lost} RETURNING *`,
      )
      .all(value);
    for (const row of rows) endIfHopeless(database, row, now);
    return rows.length;
  });
}

/** A step that ends each of its workers would be repeated forever. */
function endIfHopeless(database: WorkDatabase, row: Row, now: number): void {
  const losses = Number(row.losses);
  if (losses < MAX_LOSSES) return;
  const id = String(row.id);
  const error = workersEnded(id, losses);
  if (row.ending === null) changeRequest(database, id, { ending: 'fail', error: errorJson(error) });
  else if (losses >= MAX_LOSSES_WITH_UNDO) {
    const changes = { ...finishedAs('failed', now), message: error.message, error: errorJson(error) };
    changeRequest(database, id, changes);
    closeRequest(database, id, now);
    const message = { type: 'error', data: { state: 'failed', error } } as const;
    addMessages(database, { requestId: id, at: now }, [message]);
  }
}

const workersEnded = (id: string, losses: number): RequestError => ({
  code: 'INTERNAL',
  message: `The request "${id}" was abandoned because ${losses} worker processes exited while running it.`,
  hint: "The daemon's log shows how they exited. Check that the machine has enough memory.",
});
