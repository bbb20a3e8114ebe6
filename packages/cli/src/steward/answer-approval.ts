/** Pending install approvals of the daemon, and answers to them. */
import { TurnbuckleError } from 'turnbuckle';
import type { CommandContext } from '../command.js';
import { resolveShortId } from '../command-line/short-id.js';
import type { DaemonClient } from '../daemon/daemon-client.js';
import type { PendingInstall } from './install-approval-lines.js';

interface ApprovalPage {
  readonly approvals: readonly PendingInstall[];
  readonly next?: string;
}

/** All of them, or those of one request. */
export async function fetchInstallApprovals(
  client: DaemonClient,
  { signal }: Pick<CommandContext, 'signal'>,
  requestId?: string,
): Promise<readonly PendingInstall[]> {
  const found: PendingInstall[] = [];
  const query = new URLSearchParams({ limit: '100', ...(requestId !== undefined && { request: requestId }) });
  for (;;) {
    const { approvals, next } = await client.get<ApprovalPage>(`/api/steward/approvals?${query}`, { signal });
    found.push(...approvals);
    if (next === undefined) return found;
    query.set('after', next);
  }
}

/** The one whose id is this, or begins like this. */
export async function requireInstallApproval(
  client: DaemonClient,
  context: Pick<CommandContext, 'signal'>,
  typed: string,
): Promise<PendingInstall> {
  const approvals = await fetchInstallApprovals(client, context);
  const id = await resolveShortId(typed, async () => approvals.map((one) => one.id));
  const found = approvals.find((one) => one.id === id);
  if (found !== undefined) return found;
  throw new TurnbuckleError('ARGUMENTS_INVALID', `No pending install approval with id "${typed}".`, {
    hint: 'The approval may have been answered, or its request may have finished. List pending approvals: turnbuckle steward approvals',
  });
}

export interface InstallAnswer {
  readonly answer: 'yes' | 'no';
  readonly values?: Readonly<Record<string, string>>;
}

export const answerInstall = (client: DaemonClient, id: string, answer: InstallAnswer): Promise<unknown> =>
  client.post(`/api/steward/approvals/${encodeURIComponent(id)}`, answer);
