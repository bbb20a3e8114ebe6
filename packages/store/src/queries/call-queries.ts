/** What can be asked of the log. Runs beside the database, away from the calls. */
import { type Database, type Row, toStorableText } from '../database.js';
import { toFtsQuery } from './search-words.js';

export interface LogFilter {
  readonly server?: string | undefined;
  /** The name at the server, or the one that an agent sees. */
  readonly tool?: string | undefined;
  /** `host`, or `owner` as its token is named: the calls that are no agent's. */
  readonly caller?: string | undefined;
  readonly run?: string | undefined;
  readonly outcome?: string | undefined;
  /** Only those that did not end well, or only those that did. */
  readonly failed?: boolean | undefined;
  /** Milliseconds since 1970. */
  readonly since?: number | undefined;
  readonly until?: number | undefined;
  /** Words that must all occur in names, arguments, result or error; the beginning of one is enough. */
  readonly text?: string | undefined;
  /** Only calls of these. Undefined: of everything. */
  readonly visible?: Visible;
  /** Only those after this number, oldest first: for following along. */
  readonly after?: number | undefined;
  /** Only those before this number: for the next page. */
  readonly before?: number | undefined;
  readonly limit?: number | undefined;
}

/** What was called, as the log has it. */
export interface LogName {
  readonly server: string;
  readonly tool: string;
  readonly kind: string;
}

export interface VisibleName extends LogName {
  /** Only calls that found it: of those that did not, nobody can tell whether there is nothing or it is hidden. */
  readonly mustBeFound?: boolean | undefined;
}

/** What somebody may know of. What is not in it is not looked at: no count, no order and no page tells of it. */
export type Visible = readonly VisibleName[] | undefined;

const MAX_ROWS = 1_000;
/** Of a server with more names, such as addresses of resources, only the first are told to who may not see everything. */
const MAX_NAMES_PER_SERVER = 5_000;
const MAX_NAMES = 20_000;

/** Newest first, or with `after` oldest first. */
export function findCalls(database: Database, filter: LogFilter): Row[] {
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
  if (filter.caller !== undefined && HOST_NAMES.has(filter.caller)) add(IS_HOST);
  else add('caller = ?', filter.caller);
  add('run = ?', filter.run);
  add('outcome = ?', filter.outcome);
  add('success = ?', filter.failed === undefined ? undefined : Number(!filter.failed));
  add('started_at >= ?', filter.since);
  add('started_at < ?', filter.until);
  add('number > ?', filter.after);
  add('number < ?', filter.before);
  if (filter.text !== undefined) {
    const match = toFtsQuery(filter.text);
    // A search without a word finds nothing: everything would be no answer to it.
    if (match === '') return [];
    add('number IN (SELECT rowid FROM invocations_text WHERE invocations_text MATCH ?)', match);
  }
  if (filter.visible !== undefined) add(IS_VISIBLE, ...toValues(filter.visible));
  const condition = where.length === 0 ? '' : `WHERE ${where.join(' AND ')}`;
  const order = filter.after === undefined ? 'DESC' : 'ASC';
  return database
    .prepare(
      `SELECT * FROM invocations ${condition} ORDER BY number ${order} LIMIT ${clampLimit(filter.limit ?? 50)}`,
    )
    .all(...values);
}

/** One person: in rules, and by the name of the token. */
const HOST_NAMES: ReadonlySet<string> = new Set(['host', 'owner']);
const IS_HOST = "(caller IS NULL OR caller IN ('host', 'owner'))";

const IS_AMONG = '(server, tool, kind) IN (SELECT value ->> 0, value ->> 1, value ->> 2 FROM json_each(?))';
const WAS_FOUND = `((decision IN ('allow', 'ask') OR code = 'CALL_DENIED')
  AND coalesce(code, '') NOT IN ('TOOL_UNKNOWN', 'RESOURCE_UNKNOWN', 'PROMPT_UNKNOWN'))`;
const IS_VISIBLE = `(${IS_AMONG} AND (${WAS_FOUND} OR ${IS_AMONG}))`;

/** The values of IS_VISIBLE. */
const toValues = (names: readonly VisibleName[]): readonly string[] => [
  toJson(names),
  toJson(names.filter(({ mustBeFound }) => mustBeFound !== true)),
];

/** Inside JSON a NUL is an escape, which only SQLite decodes: names are replaced before. */
const toJson = (names: readonly LogName[]): string =>
  JSON.stringify(names.map(({ server, tool, kind }) => [server, tool, kind].map(toStorableText)));

/** A condition more for a query, and its value; nothing when all is visible. */
const visibleOnly = (visible: Visible): readonly [condition: string, values: readonly string[]] =>
  visible === undefined ? ['', []] : [`AND ${IS_VISIBLE}`, toValues(visible)];

/** A name that an earlier release has stored. A driver may read less of it, and would be led back to it from there. */
const HAS_NO_NUL = "instr(CAST(server || tool || kind AS BLOB), x'00') = 0";

/**
 * All that was called, for whoever decides which of it somebody may know of. Goes from name to name along the index: the
 * time that it takes depends on how many names there are, not on how many calls.
 */
export function loggedNames(database: Database): LogName[] {
  const after = database.prepare(
    `SELECT server, tool, kind FROM invocations WHERE (server, tool, kind) > (?, ?, ?) AND ${HAS_NO_NUL}
    ORDER BY server, tool, kind LIMIT 1`,
  );
  const nextServer = database.prepare(
    `SELECT server, tool, kind FROM invocations WHERE server > ? AND ${HAS_NO_NUL}
    ORDER BY server, tool, kind LIMIT 1`,
  );
  const names: LogName[] = [];
  let ofServer = 0;
  let [row] = after.all('', '', '');
  while (row !== undefined && names.length < MAX_NAMES) {
    const name = { server: String(row.server), tool: String(row.tool), kind: String(row.kind) };
    ofServer = names.at(-1)?.server === name.server ? ofServer + 1 : 1;
    names.push(name);
    [row] =
      ofServer < MAX_NAMES_PER_SERVER
        ? after.all(name.server, name.tool, name.kind)
        : nextServer.all(name.server);
  }
  return names;
}

/** The limit of a query, whatever was asked for. */
export const clampLimit = (limit: number): number =>
  Number.isFinite(limit) ? Math.min(Math.max(Math.trunc(limit), 1), MAX_ROWS) : MAX_ROWS;

/** The latest of that name. */
export function getCall(database: Database, id: string): Row | undefined {
  return database.prepare('SELECT * FROM invocations WHERE id = ? ORDER BY number DESC LIMIT 1').all(id)[0];
}

/** One pass for counts and percentiles of each group. */
const analytics = (group: string, condition: string): string => `
  WITH ranked AS (
    SELECT ${group}, duration_ms, success, started_at, arguments_bytes, result_bytes,
      row_number() OVER (PARTITION BY ${group} ORDER BY duration_ms) AS place,
      count(*) OVER (PARTITION BY ${group}) AS calls
    FROM invocations WHERE started_at >= ? ${condition}
  )
  SELECT ${group}, calls,
    sum(1 - success) AS failures,
    sum(1 - success) * 1.0 / calls AS failure_rate,
    avg(duration_ms) AS mean_ms,
    max(CASE WHEN place = (calls + 1) / 2 THEN duration_ms END) AS p50_ms,
    max(CASE WHEN place = max(1, (calls * 95 + 99) / 100) THEN duration_ms END) AS p95_ms,
    max(duration_ms) AS max_ms,
    max(started_at) AS last_used_at,
    total(arguments_bytes) AS arguments_bytes,
    total(result_bytes) AS result_bytes
  FROM ranked GROUP BY ${group}`;

const ORDERS = {
  calls: 'calls DESC',
  slowest: 'p95_ms DESC',
  failing: 'failure_rate DESC, calls DESC',
} as const;

/** `calls`: the busiest first; `slowest`: by p95; `failing`: by the share of failures. */
export type AnalyticsOrder = keyof typeof ORDERS;

/** Counts, failure rate and percentiles of each tool. */
export function toolAnalytics(
  database: Database,
  { since, order = 'calls', visible }: { since: number; order?: AnalyticsOrder; visible?: Visible },
): Row[] {
  const [condition, values] = visibleOnly(visible);
  return database
    .prepare(
      `${analytics('server, tool', condition)} ORDER BY ${ORDERS[order]}, server, tool LIMIT ${MAX_ROWS}`,
    )
    .all(since, ...values);
}

/** The same of each server. */
export function serverAnalytics(
  database: Database,
  { since, visible }: { since: number; visible?: Visible },
): Row[] {
  const [condition, values] = visibleOnly(visible);
  return database
    .prepare(`${analytics('server', condition)} ORDER BY calls DESC, server LIMIT ${MAX_ROWS}`)
    .all(since, ...values);
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

export interface SpanFilter {
  readonly server?: string | undefined;
  readonly visible?: Visible;
}

/** Calls in equal spans of time, for plots. Spans without a call are left out. */
export function callsOverTime(
  database: Database,
  { since, spanMs, server, visible }: { since: number; spanMs: number } & SpanFilter,
): Row[] {
  const [condition, values] = visibleOnly(visible);
  const span = Math.max(Math.trunc(spanMs), 1_000);
  return database
    .prepare(
      `SELECT started_at / ${span} * ${span} AS at, count(*) AS calls, sum(1 - success) AS failures,
        avg(duration_ms) AS mean_ms
      FROM invocations WHERE started_at >= ? ${server === undefined ? '' : 'AND server = ?'} ${condition}
      GROUP BY 1 ORDER BY 1 LIMIT 10000`,
    )
    .all(since, ...(server === undefined ? [] : [server]), ...values);
}
