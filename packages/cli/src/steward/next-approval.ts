import type { PendingInstall } from './install-approval-lines.js';
import type { StewardRequests } from './steward-requests.js';

/** What a request asks that is not in `seen`, which gets it. A request may ask several times. */
export async function nextApproval(
  requests: Pick<StewardRequests, 'approvals'>,
  requestId: string,
  seen: Set<string>,
): Promise<PendingInstall | undefined> {
  const found = (await requests.approvals(requestId)).find((one) => !seen.has(one.id));
  if (found !== undefined) seen.add(found.id);
  return found;
}
