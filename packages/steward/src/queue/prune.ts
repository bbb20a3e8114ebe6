/** Deletes what is old, a bounded number of rows at a time. */
import type { WorkDatabase } from '@turnbuckle/store';

const MAX_AGE_MS = 30 * 24 * 60 * 60 * 1_000;
const MAX_FINISHED = 5_000;
const MAX_MESSAGES = 20_000;
const BATCH = 500;

/** After this time energy is not charged any more, whether somebody has taken it or there is no agent. */
const MAX_ENERGY_AGE_MS = 7 * 24 * 60 * 60 * 1_000;
const ENERGY_BATCH = 5_000;

/** Returns how many requests, messages and rows of energy were deleted. */
export function prune(database: WorkDatabase, now: number): number {
  const since = now - MAX_AGE_MS;
  const oldMessages = database
    .prepare(
      `SELECT number FROM steward_messages
       WHERE at < ? OR number <= (SELECT MAX(number) FROM steward_messages) - ? ORDER BY number LIMIT ?`,
    )
    .all(since, MAX_MESSAGES, BATCH);
  const oldRequests = database
    .prepare(
      `SELECT id FROM steward_requests WHERE finished_at IS NOT NULL AND (finished_at < ? OR number IN (
         SELECT number FROM steward_requests WHERE finished_at IS NOT NULL
         ORDER BY finished_at DESC, number DESC LIMIT -1 OFFSET ?)) LIMIT ?`,
    )
    .all(since, MAX_FINISHED, BATCH);
  // The rows of an open request stay, so that none of its steps is counted twice.
  const oldEnergy = database
    .prepare(
      `SELECT number FROM (SELECT number, ref, at FROM energy_spent ORDER BY number LIMIT ?)
       WHERE at < ? AND NOT EXISTS (SELECT 1 FROM steward_requests
         WHERE id = substr(ref, 1, instr(ref, ':') - 1) AND finished_at IS NULL)`,
    )
    .all(ENERGY_BATCH, now - MAX_ENERGY_AGE_MS);
  const count = oldMessages.length + oldRequests.length + oldEnergy.length;
  if (count === 0) return 0;
  database.transaction(() => {
    const deleteMessage = database.prepare('DELETE FROM steward_messages WHERE number = ?');
    for (const { number = null } of oldMessages) deleteMessage.run(number);
    const deleteOldEnergy = database.prepare('DELETE FROM energy_spent WHERE number = ?');
    for (const { number = null } of oldEnergy) deleteOldEnergy.run(number);
    const deleteRequest = database.prepare('DELETE FROM steward_requests WHERE id = ?');
    const deleteApprovals = database.prepare('DELETE FROM install_approvals WHERE request_id = ?');
    // The entries of a request are named `<request>:…`; ids have no colon, which comes before the semicolon.
    const deleteEnergy = database.prepare('DELETE FROM energy_spent WHERE ref > ? AND ref < ? AND taken = 1');
    for (const row of oldRequests) {
      const id = String(row.id);
      deleteRequest.run(id);
      deleteApprovals.run(id);
      deleteEnergy.run(`${id}:`, `${id};`);
    }
  });
  return count;
}
