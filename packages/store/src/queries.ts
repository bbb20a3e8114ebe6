/** What can be asked of the log. Runs beside the database, away from the calls. */
import type { Database, Row } from './database.js';

export interface LogFilter {
  readonly server?: string | undefined;
  /** The name at the server, or the one that an agent sees. */
  readonly tool?: string | undefined;
  readonly caller?: string | undefined;
  readonly conversation?: string | undefined;
  readonly outcome?: string | undefined;
  /** Only those that did not end well, or only those that did. */
  readonly failed?: boolean | undefined;
  /** Milliseconds since 1970. */
  readonly since?: number | undefined;
  readonly until?: number | undefined;
  /** Words that must all occur in names, arguments, result or error; the beginning of one is enough. */
  readonly text?: string | undefined;
  /** Only those after this number, oldest first: for following along. */
  readonly after?: number | undefined;
  /** Only those before this number: for the next page. */
  readonly before?: number | undefined;
  readonly limit?: number | undefined;
}

const MOST = 1_000;
const MOST_WORDS = 32;

/** Newest first, or with `after` oldest first. */
export function findInvocations(database: Database, filter: LogFilter): Row[] {
  const where: string[] = [];
  const values: (string | number)[] = [];
  const add = (condition: string, ...given: (string | number | undefined)[]): void => {
    const known = given.filter((value) => value !== undefined);
    if (known.length < given.length) return;
    where.push(condition);
    values.push(...known);
  };
  add('server = ?', filter.server);
  add('(tool = ? OR tool_name = ?)', filter.tool, filter.tool);
  add('caller = ?', filter.caller);
  add('conversation = ?', filter.conversation);
  add('outcome = ?', filter.outcome);
  add('success = ?', filter.failed === undefined ? undefined : Number(!filter.failed));
  add('started_at >= ?', filter.since);
  add('started_at < ?', filter.until);
  add('number > ?', filter.after);
  add('number < ?', filter.before);
  if (filter.text !== undefined) {
    const match = toMatch(filter.text);
    // A search without a word finds nothing: everything would be no answer to it.
    if (match === '') return [];
    add('number IN (SELECT rowid FROM invocations_text WHERE invocations_text MATCH ?)', match);
  }
  const condition = where.length === 0 ? '' : `WHERE ${where.join(' AND ')}`;
  const order = filter.after === undefined ? 'DESC' : 'ASC';
  return database
    .prepare(
      `SELECT * FROM invocations ${condition} ORDER BY number ${order} LIMIT ${bounded(filter.limit ?? 50)}`,
    )
    .all(...values);
}

const bounded = (limit: number): number =>
  Number.isFinite(limit) ? Math.min(Math.max(Math.trunc(limit), 1), MOST) : MOST;

/** Each word in quotes: nothing of it is understood as a query language. */
function toMatch(text: string): string {
  const words = text.match(/[\p{L}\p{M}\p{N}_]+/gu) ?? [];
  return words
    .filter((word) => /[\p{L}\p{N}]/u.test(word))
    .slice(0, MOST_WORDS)
    .map((word) => `"${word}"*`)
    .join(' ');
}

/** The latest of that name. */
export function getInvocation(database: Database, id: string): Row | undefined {
  return database.prepare('SELECT * FROM invocations WHERE id = ? ORDER BY number DESC LIMIT 1').all(id)[0];
}

/** One pass for counts and percentiles of each group. */
const analytics = (group: string): string => `
  WITH ranked AS (
    SELECT ${group}, duration_ms, success, started_at, arguments_bytes, result_bytes,
      row_number() OVER (PARTITION BY ${group} ORDER BY duration_ms) AS place,
      count(*) OVER (PARTITION BY ${group}) AS calls
    FROM invocations WHERE started_at >= ?
  )
  SELECT ${group}, calls,
    sum(1 - success) AS failures,
    sum(1 - success) * 1.0 / calls AS failure_rate,
    avg(duration_ms) AS mean_ms,
    max(CASE WHEN place = (calls + 1) / 2 THEN duration_ms END) AS p50_ms,
    max(CASE WHEN place = max(1, (calls * 95 + 99) / 100) THEN duration_ms END) AS p95_ms,
    max(duration_ms) AS max_ms,
    max(started_at) AS last_used_at,
    sum(arguments_bytes) AS arguments_bytes,
    sum(result_bytes) AS result_bytes
  FROM ranked GROUP BY ${group}`;

const ORDERS = {
  calls: 'calls DESC',
  slowest: 'p95_ms DESC',
  failing: 'failure_rate DESC, calls DESC',
} as const;

/** `calls`: the busiest first; `slowest`: by p95; `failing`: by the share of failures. */
export type AnalyticsOrder = keyof typeof ORDERS;

/** Counts, failure rate and percentiles of each tool. */
export function toolAnalytics(database: Database, since: number, order: AnalyticsOrder = 'calls'): Row[] {
  return database
    .prepare(`${analytics('server, tool')} ORDER BY ${ORDERS[order]}, server, tool LIMIT ${MOST}`)
    .all(since);
}

/** The same of each server. */
export function serverAnalytics(database: Database, since: number): Row[] {
  return database.prepare(`${analytics('server')} ORDER BY calls DESC, server LIMIT ${MOST}`).all(since);
}

/** All servers that were ever configured, with their totals since then. */
export function listServers(database: Database): Row[] {
  return database.prepare('SELECT * FROM servers ORDER BY name').all();
}

/** Servers that are switched on and that nobody has called since: the dearest list of tools first. */
export function unusedServers(database: Database, since: number): Row[] {
  return database
    .prepare(
      `SELECT * FROM servers WHERE removed_at IS NULL AND enabled = 1 AND coalesce(last_used_at, 0) < ?
      ORDER BY coalesce(tool_tokens, 0) DESC, name`,
    )
    .all(since);
}

/** Calls in equal spans of time, for plots. Spans without a call are left out. */
export function callsOverTime(
  database: Database,
  { since, spanMs, server }: { since: number; spanMs: number; server?: string | undefined },
): Row[] {
  const span = Math.max(Math.trunc(spanMs), 1_000);
  return database
    .prepare(
      `SELECT started_at / ${span} * ${span} AS at, count(*) AS calls, sum(1 - success) AS failures,
        avg(duration_ms) AS mean_ms
      FROM invocations WHERE started_at >= ? ${server === undefined ? '' : 'AND server = ?'}
      GROUP BY 1 ORDER BY 1 LIMIT 10000`,
    )
    .all(...(server === undefined ? [since] : [since, server]));
}
