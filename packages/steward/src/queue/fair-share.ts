/** Several callers share the queue: none can fill it, and none waits forever because others ask for more or with more urgency. */
import type { WorkDatabase } from '@turnbuckle/store';
import { PRIORITIES } from '../requests/request.js';
import { tooManyOpen, tooManyOpenOfAgents, tooManyOpenOfCaller } from './queue-errors.js';

const MAX_OPEN = 1_000;
/** The rest is for the owner. */
const MAX_OPEN_OF_AGENTS = 900;
const MAX_OPEN_OF_CALLER = 100;
/** A request that has waited this long counts as one step more urgent. */
const STEP_MS = 10 * 60_000;

/** OVERLOADED if there is no room for another request of the caller; undefined: the owner. */
export function requireRoom(database: WorkDatabase, caller: string | undefined): void {
  const [row] = database
    .prepare(
      `SELECT COUNT(*) AS open, COUNT(requested_by) AS of_agents,
         COALESCE(SUM(requested_by = ?), 0) AS of_caller
       FROM steward_requests WHERE finished_at IS NULL`,
    )
    .all(caller ?? '');
  if (Number(row?.open) >= MAX_OPEN) throw tooManyOpen(MAX_OPEN);
  if (caller === undefined) return;
  if (Number(row?.of_caller) >= MAX_OPEN_OF_CALLER) throw tooManyOpenOfCaller(caller, MAX_OPEN_OF_CALLER);
  if (Number(row?.of_agents) >= MAX_OPEN_OF_AGENTS) throw tooManyOpenOfAgents(MAX_OPEN_OF_AGENTS);
}

/**
 * For requests named `candidate`, with the time as its parameter: what has to be undone, then the most urgent, then those of
 * the caller who was not served for longest, then the oldest.
 */
export const FAIR_ORDER = `candidate.ending IS NULL,
  min(${PRIORITIES.length - 1}, candidate.priority + max(0, ? - candidate.queued_at) / ${STEP_MS}) DESC,
  (SELECT max(turn) FROM steward_requests
   WHERE coalesce(requested_by, '') = coalesce(candidate.requested_by, '')),
  candidate.number`;
