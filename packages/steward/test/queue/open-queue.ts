import type { WorkDatabase } from '@turnbuckle/store';
import { onTestFinished } from 'vitest';
import { InstallApprovals } from '../../src/queue/install-approvals.js';
import { RequestQueue } from '../../src/queue/queue.js';
import type { ClaimedRequest } from '../../src/queue/request-row.js';
import { openStewardDatabase } from '../../src/queue/steps.js';
import { REQUEST_KINDS } from '../../src/requests/request.js';

export const LEASE_MS = 15_000;

export interface OpenQueue {
  readonly database: WorkDatabase;
  readonly queue: RequestQueue;
  readonly approvals: InstallApprovals;
  claim(worker?: string, now?: number): ClaimedRequest | undefined;
  /** The claim of a request that must exist. */
  mustClaim(worker?: string, now?: number): ClaimedRequest;
}

export async function openQueue(file = ':memory:'): Promise<OpenQueue> {
  const database = await openStewardDatabase(file);
  onTestFinished(() => database.close());
  const queue = new RequestQueue(database);
  const claim = (worker = 'w1', now = 0): ClaimedRequest | undefined =>
    queue.claim({ worker, kinds: REQUEST_KINDS, leaseMs: LEASE_MS, now });
  return {
    database,
    queue,
    approvals: new InstallApprovals(database),
    claim,
    mustClaim: (worker, now) => {
      const claimed = claim(worker, now);
      if (claimed === undefined) throw new Error('There is nothing to claim.');
      return claimed;
    },
  };
}
