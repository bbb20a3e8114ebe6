/** What calls cost, as the log has it: for estimates, for budgets after a restart, and for people. */
import type { Database, Row } from '../database.js';

/** Enough for the estimates of all tools that are in use. */
const MAX_SAMPLES = 5_000;
const MAX_SPANS = 50_000;
const MAX_TOTALS = 1_000;
const SPAN_MS = 60_000;

/** The cost of the latest calls, the oldest first. */
export function energySamples(database: Database): Row[] {
  return database
    .prepare(
      `SELECT server, tool, kind, energy FROM invocations WHERE energy IS NOT NULL
      ORDER BY number DESC LIMIT ${MAX_SAMPLES}`,
    )
    .all()
    .reverse();
}

/** What callers spent in each minute, the oldest first. */
export function energySpans(database: Database, since: number): Row[] {
  return database
    .prepare(
      `SELECT started_at / ${SPAN_MS} * ${SPAN_MS} AS at, caller, run, server, sum(energy) AS energy
      FROM invocations WHERE started_at >= ? AND energy IS NOT NULL AND caller IS NOT NULL
      GROUP BY 1, 2, 3, 4 ORDER BY 1 DESC LIMIT ${MAX_SPANS}`,
    )
    .all(since)
    .reverse();
}

/** What was spent by each caller on each tool, the most first. */
export function energyTotals(database: Database, since: number): Row[] {
  return database
    .prepare(
      `SELECT caller, server, tool, count(*) AS calls, sum(energy) AS energy
      FROM invocations WHERE started_at >= ? AND energy IS NOT NULL
      GROUP BY 1, 2, 3 ORDER BY energy DESC LIMIT ${MAX_TOTALS}`,
    )
    .all(since);
}
