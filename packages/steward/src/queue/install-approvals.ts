/** What a person is asked before something is installed, and what was answered: in the database, since it outlives workers. */
import { randomUUID } from 'node:crypto';
import type { Row, WorkDatabase } from '@turnbuckle/store';
import type { RequestError } from '../requests/request-status.js';
import { boundedJson, boundedLine } from './bounded-json.js';
import { approvalClosed, unknownApproval } from './queue-errors.js';
import { changeRequest, errorJson, hasPendingApproval } from './request-table.js';

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

const MAX_PENDING = 1_000;

export class InstallApprovals {
  readonly #database: WorkDatabase;

  constructor(database: WorkDatabase) {
    this.#database = database;
  }

  /** Idempotent for the step of a request: a step that runs again gets the first question, with its answer. */
  ask({ requestId, step, subject, fields, now, expiresAt }: InstallQuestion): InstallApproval {
    const [shown, inputs] = [boundedJson(subject, 'The subject'), boundedJson(fields, 'The list of fields')];
    return this.#database.transaction(() => {
      this.#database
        .prepare(
          `INSERT OR IGNORE INTO install_approvals
             (id, request_id, step, subject, fields, created_at, expires_at) VALUES (?, ?, ?, ?, ?, ?, ?)`,
        )
        .run(randomUUID(), requestId, step, shown, inputs, now, expiresAt);
      const [row] = this.#database
        .prepare('SELECT * FROM install_approvals WHERE request_id = ? AND step = ?')
        .all(requestId, step);
      return toApproval(row ?? {});
    });
  }

  /** Once, and before it expires: otherwise ARGUMENTS_INVALID. The request goes on with the answer. */
  answer(id: string, { answer, answeredBy, values, secrets, now }: InstallReply): InstallApproval {
    const kept = values === undefined ? null : boundedJson(values, 'The list of values');
    const given = secrets === undefined ? null : boundedJson(secrets, 'The list of secrets');
    return this.#database.transaction(() => {
      const asked = this.get(id);
      if (asked === undefined) throw unknownApproval(id);
      if (asked.answer === 'withdrawn') throw approvalClosed(id, 'is not needed: its request has ended');
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

  /** The oldest first. */
  pending(): InstallApproval[] {
    return this.#database
      .prepare('SELECT * FROM install_approvals WHERE answer IS NULL ORDER BY created_at LIMIT ?')
      .all(MAX_PENDING)
      .map(toApproval);
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
  message: 'Nothing was installed: the install approval expired before somebody answered it.',
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
