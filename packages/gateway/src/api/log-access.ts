/** How routes get to the log: its queries run one at a time, and nobody takes more than a fair share of them. */
import { FairQueue } from '../http/limits/fair-queue.js';
import type { CallQueries } from './routes/api-dependencies.js';
import { notFound } from './shapes/not-found.js';

/** Concurrent pages for the owner: each is in memory several times. */
const OWNER_CONCURRENCY = 4;
/** For all others. One thread runs their queries one at a time, and the owner waits at most for the current one. */
const MAX_QUEUED_QUERIES = 64;

export const createLogQueue = (): FairQueue =>
  new FairQueue({ what: 'log queries', max: MAX_QUEUED_QUERIES, ownerConcurrency: OWNER_CONCURRENCY });

/** PATH_UNKNOWN if logging is disabled. */
export function requireLog(log: CallQueries | undefined): CallQueries {
  if (log !== undefined) return log;
  throw notFound('The call log is disabled.', 'Enable it with daemon.log.enabled in your configuration.');
}
