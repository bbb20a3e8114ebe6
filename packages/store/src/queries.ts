/** What can be asked of the log. Runs beside the database, away from the calls. */
import type { Database, Row } from './database.js';

export interface LogFilter {
  readonly server?: string | undefined;
  readonly tool?: string | undefined;
  readonly caller?: string | undefined;
  readonly outcome?: string | undefined;
  /** Milliseconds since 1970. */
  readonly since?: number | undefined;
  readonly until?: number | undefined;
  /** Words that must all occur in names, arguments, result or error. */
  readonly text?: string | undefined;
  /** Only those after this one, oldest first: for following along. */
  readonly after?: number | undefined;
  readonly limit?: number | undefined;
}

const MOST = 1_000;

/** Newest first, or with `after` oldest first. */
export function findInvocations(database: Database, filter: LogFilter): Row[] {
  const where: string[] = [];
  const values: (string | number)[] = [];
  const add = (condition: string, value: string | number | undefined): void => {
    if (value === undefined) return;
    where.push(condition);
    values.push(value);
  };
  add('server = ?', filter.server);
  add('tool = ?', filter.tool);
  add('caller = ?', filter.caller);
  add('outcome = ?', filter.outcome);
  add('started_at >= ?', filter.since);
  add('started_at < ?', filter.until);
  add('number > ?', filter.after);
  add('number IN (SELECT rowid FROM invocations_text WHERE invocations_text MATCH ?)', toMatch(filter.text));
  const condition = where.length === 0 ? '' : `WHERE ${where.join(' AND ')}`;
  const order = filter.after === undefined ? 'DESC' : 'ASC';
  const limit = Math.min(Math.max(Math.trunc(filter.limit ?? 50), 1), MOST);
  return database
    .prepare(`SELECT * FROM invocations ${condition} ORDER BY number ${order} LIMIT ${limit}`)
    .all(...values);
}

/** Each word in quotes: nothing of it is understood as a query language. */
function toMatch(text: string | undefined): string | undefined {
  const words = text?.match(/[\p{L}\p{N}_]+/gu);
  return words?.map((word) => `"${word}"*`).join(' ');
}

export function getInvocation(database: Database, id: string): Row | undefined {
  return database.prepare('SELECT * FROM invocations WHERE id = ?').all(id)[0];
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
    avg(duration_ms) AS mean_ms,
    max(CASE WHEN place = (calls + 1) / 2 THEN duration_ms END) AS p50_ms,
    max(CASE WHEN place = max(1, (calls * 95 + 99) / 100) THEN duration_ms END) AS p95_ms,
    max(duration_ms) AS max_ms,
    max(started_at) AS last_used_at,
    sum(arguments_bytes) AS arguments_bytes,
    sum(result_bytes) AS result_bytes
  FROM ranked GROUP BY ${group} ORDER BY calls DESC`;

export function toolAnalytics(database: Database, since: number): Row[] {
  return database.prepare(analytics('server, tool')).all(since);
}

export function serverAnalytics(database: Database, since: number): Row[] {
  return database.prepare(analytics('server')).all(since);
}

export function listServers(database: Database): Row[] {
  return database.prepare('SELECT * FROM servers ORDER BY name').all();
}

/** Calls in equal spans of time, for plots. */
export function callsOverTime(
  database: Database,
  { since, spanMs }: { since: number; spanMs: number },
): Row[] {
  const span = Math.max(Math.trunc(spanMs), 1_000);
  return database
    .prepare(
      `SELECT started_at / ${span} * ${span} AS at, count(*) AS calls, sum(1 - success) AS failures,
        avg(duration_ms) AS mean_ms
      FROM invocations WHERE started_at >= ? GROUP BY 1 ORDER BY 1 LIMIT 10000`,
    )
    .all(since);
}
