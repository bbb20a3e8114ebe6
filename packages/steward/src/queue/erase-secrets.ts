/** What may be a secret is stored only while a request needs it: not in what is told of it, nor after it has ended. */
import type { WorkDatabase } from '@turnbuckle/store';
import { redactConfig, redactShapes } from 'turnbuckle/host';

export const jsonWithoutSecrets = (value: unknown): string | undefined =>
  JSON.stringify(value, (_key, part: unknown) => (typeof part === 'string' ? redactShapes(part) : part));

/** What is kept of the parameters, given and returned as JSON: enough to recognize a request that is sent again. */
export function keptParams(params: string): string {
  const { values, ...rest } = JSON.parse(params) as Record<string, unknown>;
  // As of variables: any name may precede a secret.
  const hidden = values === undefined ? {} : { values: redactConfig({ env: values }).env };
  return jsonWithoutSecrets({ ...redactConfig(rest), ...hidden }) ?? '{}';
}

/** Call it in the transaction that ends the request. */
export function eraseSecrets(database: WorkDatabase, id: string): void {
  const [request] = database.prepare('SELECT params FROM steward_requests WHERE id = ?').all(id);
  database
    .prepare(`UPDATE steward_requests SET params = ?, data = '{}' WHERE id = ?`)
    .run(keptParams(String(request?.params ?? '{}')), id);
  const update = database.prepare('UPDATE install_approvals SET subject = ?, "values" = NULL WHERE id = ?');
  const approvals = database.prepare('SELECT id, subject FROM install_approvals WHERE request_id = ?');
  for (const approval of approvals.all(id))
    update.run(jsonWithoutSecrets(JSON.parse(String(approval.subject))) ?? 'null', String(approval.id));
  database.prepare(`INSERT OR REPLACE INTO steward_settings (name, value) VALUES ('erased', ?)`).run(id);
}

/** Empties the log of SQLite, where what was erased remains until then. Without effect while another process reads it. */
export function emptyLog(database: WorkDatabase): void {
  const [erased] = database.prepare(`SELECT value FROM steward_settings WHERE name = 'erased'`).all();
  // Looked for often: without one nothing is locked.
  if (erased === undefined) return;
  const [outcome] = database.prepare('PRAGMA wal_checkpoint(TRUNCATE)').all();
  if (outcome?.busy !== 0) return;
  // Another request may have ended meanwhile.
  const done = database.prepare(`DELETE FROM steward_settings WHERE name = 'erased' AND value = ?`);
  done.run(String(erased.value));
}
