/** How a server is, as the daemon's API sends it, and as the library says it. */
import type { ServerStatus } from 'turnbuckle';
import { type Refusal, refusalOf } from './daemon-client.js';

type Fault = Refusal & { readonly message?: unknown };

/** What has no value is not sent. */
export type SentStatus = Omit<ServerStatus, 'error' | 'problem'> & {
  readonly error?: Fault;
  readonly problem?: Fault;
} & Partial<Record<'description' | 'entry' | 'origin' | 'shadowed' | 'toolCount', unknown>>;

/** Without what the API adds. */
export function toStatus(sent: SentStatus): ServerStatus {
  const { error, problem, description, entry, origin, shadowed, toolCount, ...status } = sent;
  return { ...status, error: error && toError(error), problem: problem && toError(problem) };
}

const toError = (fault: Fault): NonNullable<ServerStatus['error']> =>
  refusalOf({ ...fault, error: fault.message });
