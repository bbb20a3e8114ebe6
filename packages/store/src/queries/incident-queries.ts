/** Incidents in the database: stored, found and deleted. */
import { type Database, inTransaction, type Row, toStorableText } from '../database.js';
import { INCIDENT_LEVELS, type IncidentLevel, type IncidentRecord } from '../incident-record.js';
import { clampLimit } from './call-queries.js';

export interface IncidentFilter {
  readonly server?: string | undefined;
  readonly kind?: string | undefined;
  /** Only those of this level and of more serious ones. */
  readonly level?: IncidentLevel | undefined;
  /** Milliseconds since 1970. */
  readonly since?: number | undefined;
  readonly until?: number | undefined;
  /** Only incidents of these servers, and none of the daemon. Undefined: all. */
  readonly servers?: readonly string[] | undefined;
  /** Only those after this number, oldest first: for following along. */
  readonly after?: number | undefined;
  /** Only those before this number: for the next page. */
  readonly before?: number | undefined;
  readonly limit?: number | undefined;
}

export const INSERT_INCIDENT = `
  INSERT INTO incidents (at, level, kind, server, code, text, next) VALUES (?, ?, ?, ?, ?, ?, ?)`;

export const toIncidentValues = ({ at, level, kind, server, code, text, next }: IncidentRecord) =>
  [Math.trunc(at), level, kind, server ?? null, code ?? null, text, next ?? null] as const;

/** Newest first, or with `after` oldest first. */
export function findIncidents(database: Database, filter: IncidentFilter): Row[] {
  const { level, servers, after, limit = 50 } = filter;
  const levels = level && JSON.stringify(INCIDENT_LEVELS.slice(0, INCIDENT_LEVELS.indexOf(level) + 1));
  const conditions = [
    ['server = ?', filter.server],
    ['kind = ?', filter.kind],
    ['level IN (SELECT value FROM json_each(?))', levels],
    ['at >= ?', filter.since],
    ['at < ?', filter.until],
    ['server IN (SELECT value FROM json_each(?))', servers && JSON.stringify(servers.map(toStorableText))],
    ['number > ?', after],
    ['number < ?', filter.before],
  ] as const;
  const given = conditions.flatMap(([sql, value]) => (value === undefined ? [] : [{ sql, value }]));
  const where = given.length === 0 ? '' : `WHERE ${given.map(({ sql }) => sql).join(' AND ')}`;
  const order = after === undefined ? 'DESC' : 'ASC';
  return database
    .prepare(`SELECT * FROM incidents ${where} ORDER BY number ${order} LIMIT ${clampLimit(limit)}`)
    .all(...given.map(({ value }) => value));
}

const MAX_INCIDENTS = 20_000;
const BATCH_ROWS = 500;

/** Deletes what is too old or too much, a little at a time; true while there is more to do. */
export function retainIncidents(database: Database, oldest: number): boolean {
  return inTransaction(database, () => {
    const doomed = database
      .prepare(
        `SELECT number FROM incidents WHERE at < ? OR number <= (SELECT max(number) FROM incidents) - ${MAX_INCIDENTS}
        ORDER BY number LIMIT ${BATCH_ROWS}`,
      )
      .all(oldest);
    const remove = database.prepare('DELETE FROM incidents WHERE number = ?');
    for (const { number } of doomed) remove.run(Number(number));
    return doomed.length === BATCH_ROWS;
  });
}
