/** What a person is asked before something is installed, and what was answered: in the database, since it outlives workers. */
import { randomUUID } from 'node:crypto';
import type { Row, WorkDatabase } from '@turnbuckle/store';
import type { RequestError } from '../requests/request-status.js';
import { boundedJson, boundedLine } from './bounded-json.js';
import { approvalClosed, tooManyApprovals, unknownApproval } from './queue-errors.js';
import { changeRequest, errorJson, findRequest, hasPendingApproval } from './request-table.js';

/** `withdrawn`: the request ended before somebody answered. */
export type InstallAnswer = 'yes' | 'no' | 'expired' | 'withdrawn';

export interface InstallApproval {
  readonly id: string;
  readonly requestId: string;
  readonly step: string;
  /** What would be installed, exactly as it is shown. */
  readonly subject: unknown;
  /** What the person has to fill in. */
  readonly fields: unknown;
  readonly createdAt: number;
  readonly expiresAt: number;
  readonly answer?: InstallAnswer;
  readonly answeredBy?: string;
  readonly answeredAt?: number;
  /** Never secrets: those go to the vault. */
  readonly values?: Readonly<Record<string, string>>;
  /** The fields whose secrets came with the answer. */
  readonly secrets?: readonly string[];
}

export interface InstallQuestion {
  readonly requestId: string;
  readonly step: string;
  readonly subject: unknown;
  readonly fields: unknown;
  readonly now: number;
  readonly expiresAt: number;
}

export interface InstallReply {
  readonly answer: 'yes' | 'no';
  readonly answeredBy: string;
  readonly values?: Readonly<Record<string, string>> | undefined;
  readonly secrets?: readonly string[] | undefined;
  readonly now: number;
}

export interface ApprovalFilter {
  /** The id of the last one of the page before. */
  readonly after?: string | undefined;
  readonly requestId?: string | undefined;
  /** At most 100. */
  readonly limit?: number | undefined;
}

export interface ApprovalPage {
  /** The oldest first. */
  readonly approvals: readonly InstallApproval[];
  /** For `after`: more follow. */
  readonly next?: string | undefined;
}

/** Of the JSON text of the subject, and of the fields. */
const MAX_PART_LENGTH = 64 * 1_024;
const MAX_LISTED = 100;
const USUAL_LISTED = 50;
/** Of the JSON text of a page, unless its first approval alone is longer. */
const MAX_PAGE_LENGTH = 1_024 * 1_024;
/** One that asks without end must not hide the questions of others. */
const MAX_OPEN_OF_CALLER = 20;
const MAX_OPEN_OF_OWNER = 500;

export class InstallApprovals {
  readonly #database: WorkDatabase;

  constructor(database: WorkDatabase) {
    this.#database = database;
  }

  /**
   * Idempotent for the step of a request: a step that runs again gets the first question, with its answer. OVERLOADED if
   * the caller of the request has too many open ones.
   */
  ask({ requestId, step, subject, fields, now, expiresAt }: InstallQuestion): InstallApproval {
    const shown = boundedJson(subject, 'The content of the install approval', MAX_PART_LENGTH);
    const inputs = boundedJson(fields, 'The list of fields of the install approval', MAX_PART_LENGTH);
    return this.#database.transaction(() => {
      const known = this.#database
        .prepare('SELECT * FROM install_approvals WHERE request_id = ? AND step = ?')
        .all(requestId, step)[0];
      if (known !== undefined) return toApproval(known);
      this.#requireRoom(requestId);
      const [row] = this.#database
        .prepare(
          `INSERT INTO install_approvals (id, request_id, step, subject, fields, created_at, expires_at)
           VALUES (?, ?, ?, ?, ?, ?, ?) RETURNING *`,
        )
        .all(randomUUID(), requestId, step, shown, inputs, now, expiresAt);
      return toApproval(row ?? {});
    });
  }

  /** Asks again after a yes that cannot be used, with a new id: nobody takes it for the question of before. */
  askAgain({ requestId, step, subject, fields, now, expiresAt }: InstallQuestion): void {
    const shown = boundedJson(subject, 'What the install approval would show', MAX_PART_LENGTH);
    const inputs = boundedJson(fields, 'The list of fields of the install approval', MAX_PART_LENGTH);
    this.#database
      .prepare(
        `UPDATE install_approvals SET id = ?, subject = ?, fields = ?, created_at = ?, expires_at = ?,
           answer = NULL, answered_by = NULL, answered_at = NULL, "values" = NULL, secrets = NULL
         WHERE request_id = ? AND step = ? AND answer = 'yes'`,
      )
      .run(randomUUID(), shown, inputs, now, expiresAt, requestId, step);
  }

  /** Once, and before it expires: otherwise ARGUMENTS_INVALID. The request goes on with the answer. */
  answer(id: string, { answer, answeredBy, values, secrets, now }: InstallReply): InstallApproval {
    const kept = values === undefined ? null : boundedJson(values, 'The list of values');
    const given = secrets === undefined ? null : boundedJson(secrets, 'The list of secrets');
    return this.#database.transaction(() => {
      const asked = this.get(id);
      if (asked === undefined) throw unknownApproval(id);
      if (asked.answer === 'withdrawn')
        throw approvalClosed(id, 'is no longer needed because its request has finished');
      if (asked.answer === 'expired' || asked.expiresAt <= now) throw approvalClosed(id, 'has expired');
      if (asked.answer !== undefined) throw approvalClosed(id, `was already answered with "${asked.answer}"`);
      this.#database
        .prepare(
          `UPDATE install_approvals SET answer = ?, answered_by = ?, answered_at = ?, "values" = ?, secrets = ?
           WHERE id = ?`,
        )
        .run(answer, boundedLine(answeredBy), now, kept, given, id);
      if (!hasPendingApproval(this.#database, asked.requestId))
        changeRequest(this.#database, asked.requestId, { waiting_for: null });
      return this.get(id) ?? asked;
    });
  }

  get(id: string): InstallApproval | undefined {
    const [row] = this.#database.prepare('SELECT * FROM install_approvals WHERE id = ?').all(id);
    return row === undefined ? undefined : toApproval(row);
  }

  /** How many nobody has answered. */
  countPending(): number {
    const [row] = this.#database
      .prepare('SELECT COUNT(*) AS count FROM install_approvals WHERE answer IS NULL')
      .all();
    return Number(row?.count ?? 0);
  }

  /** A page of those that nobody has answered. */
  pending({ after, requestId, limit = USUAL_LISTED }: ApprovalFilter = {}): ApprovalPage {
    const used = [
      { sql: 'rowid > (SELECT rowid FROM install_approvals WHERE id = ?)', value: after },
      { sql: 'request_id = ?', value: requestId },
    ].flatMap(({ sql, value }) => (value === undefined ? [] : [{ sql, value }]));
    const where = ['answer IS NULL', ...used.map(({ sql }) => sql)].join(' AND ');
    const most = Math.min(Math.max(1, limit), MAX_LISTED);
    const found = this.#database
      .prepare(`SELECT rowid AS row FROM install_approvals WHERE ${where} ORDER BY rowid LIMIT ?`)
      .all(...used.map(({ value }) => value), most + 1);
    const approvals = this.#read(found.slice(0, most).map(({ row }) => Number(row)));
    const next = approvals.length < found.length ? approvals.at(-1)?.id : undefined;
    return { approvals, ...(next !== undefined && { next }) };
  }

  /** As many of these rows as fit into a page, at least one. */
  #read(rowIds: readonly number[]): InstallApproval[] {
    const read = this.#database.prepare('SELECT * FROM install_approvals WHERE rowid = ?');
    const approvals: InstallApproval[] = [];
    let left = MAX_PAGE_LENGTH;
    for (const rowId of rowIds) {
      const [row = {}] = read.all(rowId);
      left -= String(row.subject).length + String(row.fields).length;
      if (left < 0 && approvals.length > 0) break;
      approvals.push(toApproval(row));
    }
    return approvals;
  }

  #requireRoom(requestId: string): void {
    // Requests of the owner have no caller.
    const caller = String(findRequest(this.#database, requestId)?.requested_by ?? '');
    const [row] = this.#database
      .prepare(
        `SELECT COUNT(*) AS open FROM install_approvals JOIN steward_requests
           ON steward_requests.id = install_approvals.request_id
         WHERE install_approvals.answer IS NULL AND coalesce(steward_requests.requested_by, '') = ?`,
      )
      .all(caller);
    const most = caller === '' ? MAX_OPEN_OF_OWNER : MAX_OPEN_OF_CALLER;
    if (Number(row?.open) >= most) throw tooManyApprovals(caller, most);
  }

  /** The requests of approvals that nobody answered in time fail; a worker undoes their steps. Returns how many expired. */
  expire(now: number): number {
    const due = 'answer IS NULL AND expires_at <= ?';
    const database = this.#database;
    if (database.prepare(`SELECT 1 FROM install_approvals WHERE ${due} LIMIT 1`).all(now).length === 0)
      return 0;
    return database.transaction(() => {
      const rows = database
        .prepare(
          `UPDATE install_approvals SET answer = 'expired', answered_at = ? WHERE ${due} RETURNING request_id`,
        )
        .all(now, now);
      const fail = database.prepare(
        `UPDATE steward_requests SET ending = 'fail', error = ?, waiting_for = NULL
         WHERE id = ? AND finished_at IS NULL AND ending IS NULL`,
      );
      for (const row of rows) fail.run(errorJson(EXPIRED), String(row.request_id));
      return rows.length;
    });
  }
}

const EXPIRED: RequestError = {
  code: 'APPROVAL_NEEDED',
  message: 'Nothing was installed: the install approval expired before anyone answered it.',
  hint: 'Send the request again, and answer the install approval in time.',
};

function toApproval(row: Row): InstallApproval {
  return {
    id: String(row.id),
    requestId: String(row.request_id),
    step: String(row.step),
    subject: JSON.parse(String(row.subject)) as unknown,
    fields: JSON.parse(String(row.fields)) as unknown,
    createdAt: Number(row.created_at),
    expiresAt: Number(row.expires_at),
    ...(row.answer === null ? {} : { answer: String(row.answer) as InstallAnswer }),
    ...(row.answered_by === null ? {} : { answeredBy: String(row.answered_by) }),
    ...(row.answered_at === null ? {} : { answeredAt: Number(row.answered_at) }),
    ...(row.values === null ? {} : { values: JSON.parse(String(row.values)) as Record<string, string> }),
    ...(row.secrets === null ? {} : { secrets: JSON.parse(String(row.secrets)) as string[] }),
  };
}
