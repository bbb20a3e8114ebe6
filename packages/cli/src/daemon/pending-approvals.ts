/** Notices that a question of the daemon is settled while a person is still asked. */
import { setTimeout as delay } from 'node:timers/promises';
import type { ApprovalRequest } from 'turnbuckle';
import type { DaemonClient } from './daemon-client.js';

const POLL_MS = 500;

export const fetchPendingApprovals = async (
  client: DaemonClient,
  signal: AbortSignal,
): Promise<readonly ApprovalRequest[]> =>
  (await client.get<{ approvals: readonly ApprovalRequest[] }>('/api/approvals', { signal })).approvals;

/** Why a prompt that was not answered here has ended. */
export const settledReason = ({ expiresAt }: ApprovalRequest): string =>
  Date.now() < Date.parse(expiresAt)
    ? 'The request was answered elsewhere, or the call was cancelled.'
    : 'Approval timed out.';

/** Aborts `over` with a reason as soon as the approval is settled elsewhere. Never rejects. */
export async function abortWhenSettled(
  client: DaemonClient,
  asked: ApprovalRequest,
  over: AbortController,
): Promise<void> {
  try {
    while ((await fetchPendingApprovals(client, over.signal)).some(({ id }) => id === asked.id))
      await delay(POLL_MS, undefined, { signal: over.signal });
    over.abort(settledReason(asked));
  } catch {
    // Has no effect if it was answered here. The next poll reports problems of the daemon.
    over.abort('The daemon stopped responding.');
  }
}
