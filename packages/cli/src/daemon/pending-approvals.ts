/** Notices that a question of the daemon is settled while a person is still asked. */
import { setTimeout as delay } from 'node:timers/promises';
import type { ApprovalRequest } from 'turnbuckle';
import type { DaemonClient } from './daemon-client.js';

const POLL_MS = 500;

export const pendingApprovals = async (
  client: DaemonClient,
  signal: AbortSignal,
): Promise<readonly ApprovalRequest[]> =>
  (await client.get<{ approvals: readonly ApprovalRequest[] }>('/api/approvals', { signal })).approvals;

/** Why a question that was not answered here is over, in words. */
export const whySettled = ({ expiresAt }: ApprovalRequest): string =>
  Date.now() < Date.parse(expiresAt)
    ? 'Somebody else answered, or nobody waits any more.'
    : 'Nobody answered in time.';

/** Aborts `over`, with the reason in words, as soon as an answer would be of no use. Never rejects. */
export async function leaveWhenSettled(
  client: DaemonClient,
  asked: ApprovalRequest,
  over: AbortController,
): Promise<void> {
  try {
    while ((await pendingApprovals(client, over.signal)).some(({ id }) => id === asked.id))
      await delay(POLL_MS, undefined, { signal: over.signal });
    over.abort(whySettled(asked));
  } catch {
    // Where it was answered here, this says nothing. What is wrong with the daemon, the next look tells.
    over.abort('The daemon does not answer any more.');
  }
}
