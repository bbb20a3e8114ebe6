/** The tables of the steward, as steps that each bring them one version further. Steps are never changed, only added. */
import { openWorkDatabase, type WorkDatabase } from '@turnbuckle/store';
import { emptyLog } from './erase-secrets.js';

const QUEUE_STEPS: readonly string[] = [
  `
  CREATE TABLE steward_requests (
    number       INTEGER PRIMARY KEY AUTOINCREMENT,
    id           TEXT NOT NULL UNIQUE,
    kind         TEXT NOT NULL,
    params       TEXT NOT NULL,
    priority     INTEGER NOT NULL,
    timestamp    TEXT NOT NULL,
    requested_by TEXT,
    state        TEXT NOT NULL,
    step         TEXT,                        -- the next one; NULL: the first
    data         TEXT NOT NULL DEFAULT '{}',  -- results of the finished steps
    progress     INTEGER NOT NULL DEFAULT 0,
    message      TEXT NOT NULL,
    energy       INTEGER NOT NULL DEFAULT 0,  -- thousandths of a unit
    result       TEXT,
    error        TEXT,
    waiting_for  TEXT,
    ending       TEXT,                        -- 'cancel' or 'fail': its steps are being undone
    owner        TEXT,
    lease_until  INTEGER,
    attempt      INTEGER NOT NULL DEFAULT 0,  -- how often it was claimed
    losses       INTEGER NOT NULL DEFAULT 0,  -- how many workers ended in the current step
    queued_at    INTEGER NOT NULL,
    finished_at  INTEGER
  );
  CREATE INDEX steward_requests_open ON steward_requests (priority, number) WHERE finished_at IS NULL;
  CREATE INDEX steward_requests_finished ON steward_requests (finished_at) WHERE finished_at IS NOT NULL;

  CREATE TABLE steward_messages (
    number     INTEGER PRIMARY KEY AUTOINCREMENT,
    type       TEXT NOT NULL,
    request_id TEXT NOT NULL,
    data       TEXT NOT NULL,
    at         INTEGER NOT NULL
  );

  CREATE TABLE energy_spent (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    source TEXT NOT NULL,
    ref    TEXT NOT NULL UNIQUE,
    amount INTEGER NOT NULL,                  -- thousandths of a unit
    at     INTEGER NOT NULL,
    taken  INTEGER NOT NULL DEFAULT 0
  );
  CREATE INDEX energy_spent_untaken ON energy_spent (number) WHERE taken = 0;

  CREATE TABLE steward_settings (name TEXT PRIMARY KEY, value TEXT NOT NULL);

  CREATE TABLE install_approvals (
    id          TEXT PRIMARY KEY,
    request_id  TEXT NOT NULL,
    step        TEXT NOT NULL,
    subject     TEXT NOT NULL,
    fields      TEXT NOT NULL,
    created_at  INTEGER NOT NULL,
    expires_at  INTEGER NOT NULL,
    answer      TEXT,
    answered_by TEXT,
    answered_at INTEGER,
    "values"    TEXT,                         -- never secrets
    UNIQUE (request_id, step)
  );
  CREATE INDEX install_approvals_pending ON install_approvals (expires_at) WHERE answer IS NULL;
  `,
  `ALTER TABLE install_approvals ADD COLUMN secrets TEXT;`,
  `
  ALTER TABLE steward_requests ADD COLUMN turn INTEGER NOT NULL DEFAULT 0;  -- of all claims, the number of its last one
  CREATE INDEX steward_requests_turn ON steward_requests (coalesce(requested_by, ''), turn);
  `,
  // From here on, what may be a secret is erased when a request ends.
  `
  UPDATE steward_requests SET params = '{}', data = '{}' WHERE finished_at IS NOT NULL;
  UPDATE install_approvals SET "values" = NULL
    WHERE request_id IN (SELECT id FROM steward_requests WHERE finished_at IS NOT NULL);
  INSERT OR REPLACE INTO steward_settings (name, value) VALUES ('erased', '');
  `,
];

/** Opens the file with the tables of the steward. It blocks the thread that uses it: never the loop of the daemon. */
export async function openStewardDatabase(file: string): Promise<WorkDatabase> {
  const database = await openWorkDatabase({ file, part: 'steward', steps: QUEUE_STEPS });
  return {
    ...database,
    close: () => {
      // A command may have ended a request while no daemon runs.
      emptyLogIfPossible(database);
      database.close();
    },
  };
}

function emptyLogIfPossible(database: WorkDatabase): void {
  try {
    emptyLog(database);
  } catch {
    // Busy: whoever opens it next does it.
  }
}
