/** The status of a server, from the API's JSON to the type of the library. */
import type { ServerStatus } from 'turnbuckle';
import { type DaemonErrorBody, errorFromBody } from './daemon-client.js';

type SentError = DaemonErrorBody & { readonly message?: unknown };

/** What has no value is not sent. */
export type ServerStatusResponse = Omit<ServerStatus, 'error' | 'problem'> & {
  readonly error?: SentError;
  readonly problem?: SentError;
} & Partial<Record<'description' | 'entry' | 'origin' | 'shadowed' | 'toolCount', unknown>>;

/** Without what the API adds. */
export function toServerStatus(sent: ServerStatusResponse): ServerStatus {
  const { error, problem, description, entry, origin, shadowed, toolCount, ...status } = sent;
  return { ...status, error: error && toError(error), problem: problem && toError(problem) };
}

const toError = (fault: SentError): NonNullable<ServerStatus['error']> =>
  errorFromBody({ ...fault, error: fault.message });
