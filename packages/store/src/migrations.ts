/** The shape of the database, as steps that each bring it one version further. Steps are never changed, only added. */
import { type Database, inTransaction } from './database.js';

const INCIDENT_COLUMNS = `(
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    at     INTEGER NOT NULL,
    level  TEXT NOT NULL,
    kind   TEXT NOT NULL,
    server TEXT,
    code   TEXT,
    text   TEXT NOT NULL,
    next   TEXT
  )`;

const STEPS: readonly string[] = [
  `
  CREATE TABLE invocations (
    number          INTEGER PRIMARY KEY,
    id              TEXT NOT NULL UNIQUE,
    started_at      INTEGER NOT NULL,
    duration_ms     REAL NOT NULL,
    conversation    TEXT,
    caller          TEXT,
    server          TEXT NOT NULL,
    tool            TEXT NOT NULL,
    tool_name       TEXT NOT NULL,
    kind            TEXT NOT NULL,
    arguments       TEXT,
    arguments_bytes INTEGER NOT NULL,
    result          TEXT,
    result_bytes    INTEGER NOT NULL,
    success         INTEGER NOT NULL,
    outcome         TEXT NOT NULL,
    code            TEXT,
    error           TEXT,
    attempts        INTEGER NOT NULL,
    decision        TEXT,
    reason          TEXT,
    era             TEXT,
    energy          REAL
  );
  CREATE INDEX invocations_by_time ON invocations (started_at);
  CREATE INDEX invocations_by_server ON invocations (server, tool, started_at);
  CREATE VIRTUAL TABLE invocations_text USING fts5 (
    server, tool, caller, arguments, result, error, content = '', contentless_delete = 1
  );

  CREATE TABLE servers (
    name         TEXT PRIMARY KEY,
    config       TEXT NOT NULL,
    enabled      INTEGER NOT NULL,
    added_at     INTEGER NOT NULL,
    removed_at   INTEGER,
    last_used_at INTEGER,
    calls        INTEGER NOT NULL DEFAULT 0,
    failures     INTEGER NOT NULL DEFAULT 0,
    total_ms     REAL NOT NULL DEFAULT 0,
    tools        INTEGER,
    tool_tokens  INTEGER
  );

  CREATE TABLE segments (
    name   TEXT PRIMARY KEY,
    offset INTEGER NOT NULL
  );
  `,
  // Callers may name two calls alike, and a number is not given twice; what a person answered is kept.
  `
  CREATE TABLE invocations_2 (
    number          INTEGER PRIMARY KEY AUTOINCREMENT,
    id              TEXT NOT NULL,
    started_at      INTEGER NOT NULL,
    duration_ms     REAL NOT NULL,
    conversation    TEXT,
    caller          TEXT,
    server          TEXT NOT NULL,
    tool            TEXT NOT NULL,
    tool_name       TEXT NOT NULL,
    kind            TEXT NOT NULL,
    arguments       TEXT,
    arguments_bytes INTEGER NOT NULL,
    result          TEXT,
    result_bytes    INTEGER NOT NULL,
    success         INTEGER NOT NULL,
    outcome         TEXT NOT NULL,
    code            TEXT,
    error           TEXT,
    attempts        INTEGER NOT NULL,
    decision        TEXT,
    reason          TEXT,
    approval        TEXT,
    era             TEXT,
    energy          REAL
  );
  INSERT INTO invocations_2
    SELECT number, id, started_at, duration_ms, conversation, caller, server, tool, tool_name, kind, arguments,
      arguments_bytes, result, result_bytes, success, outcome, code, error, attempts, decision, reason, NULL, era,
      energy
    FROM invocations;
  DROP TABLE invocations;
  ALTER TABLE invocations_2 RENAME TO invocations;
  CREATE INDEX invocations_by_id ON invocations (id);
  CREATE INDEX invocations_by_time ON invocations (started_at);
  CREATE INDEX invocations_by_server ON invocations (server, tool, started_at);
  `,
  // All names that were called are read from the index alone.
  `
  DROP INDEX invocations_by_server;
  CREATE INDEX invocations_by_server ON invocations (server, tool, kind, started_at);
  `,
  // What goes to a server beside the arguments is part of what was called.
  `
  ALTER TABLE invocations ADD COLUMN also_sent TEXT;
  `,
  // The glossary's word.
  `
  ALTER TABLE invocations RENAME COLUMN conversation TO run;
  `,
  // What the daemon reported to its owner. A number is not given twice: readers follow it.
  `
  CREATE TABLE incidents ${INCIDENT_COLUMNS};
  CREATE INDEX incidents_by_time ON incidents (at);
  CREATE INDEX incidents_by_server ON incidents (server, number);
  `,
];
/** The version that renamed `conversation`. */
const RUN_VERSION = 5;
/** The version that added incidents. */
const INCIDENTS_VERSION = 6;

/** Brings the database up to date, or to an earlier shape; refuses one that a newer release has written. */
export function migrate(database: Database, to = STEPS.length): void {
  if (schemaVersion(database) === to) return;
  inTransaction(database, () => {
    for (const step of STEPS.slice(schemaVersion(database), to)) database.exec(step);
    database.exec(`PRAGMA user_version = ${to}`);
  });
}

/** The version of its shape, 0 of an empty one. Throws when a newer release has written it. */
export function schemaVersion(database: Database): number {
  const version = Number(database.prepare('PRAGMA user_version').all()[0]?.user_version ?? 0);
  if (version <= STEPS.length) return version;
  throw new Error(
    `The log was written by a newer version of Turnbuckle (database schema version ${version}).`,
  );
}

/** Gives queries of this release the current tables and column names on a database that is read without migrating it. */
export function useCurrentShape(database: Database): void {
  const version = schemaVersion(database);
  // A temporary table or view belongs to the connection, and hides the table of that name.
  if (version < INCIDENTS_VERSION) database.exec(`CREATE TEMP TABLE incidents ${INCIDENT_COLUMNS}`);
  if (version >= RUN_VERSION) return;
  database.exec('CREATE TEMP VIEW invocations AS SELECT *, conversation AS run FROM main.invocations');
}
