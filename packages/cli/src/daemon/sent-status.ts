/** How a server is, as the daemon's API sends it, and as the library says it. */
import type { ServerStatus } from 'turnbuckle';
import { type Refusal, refusalOf } from './daemon-client.js';

type Fault = Refusal & { readonly message?: unknown };

/** What has no value is not sent. */
export type SentStatus = Omit<ServerStatus, 'error' | 'problem'> & {
  readonly error?: Fault;
  readonly problem?: Fault;
};

/** In the order of the library, without what the API adds. */
export function toStatus(sent: SentStatus): ServerStatus {
  const { name, status, state, scope, transport, era, protocolVersion, serverInfo } = sent;
  const { capabilities, instructions, flags, config, tools, pid, sandbox, stderr } = sent;
  const { calls, breaker, lastPing, lastAnswerAt, recentErrors } = sent;
  return {
    ...{ name, status, state, scope, transport, era, protocolVersion, serverInfo },
    ...{ capabilities, instructions, flags },
    error: sent.error && toError(sent.error),
    problem: sent.problem && toError(sent.problem),
    ...{ config, tools, pid, sandbox, stderr },
    ...{ calls, breaker, lastPing, lastAnswerAt, recentErrors },
  };
}

const toError = (fault: Fault): NonNullable<ServerStatus['error']> =>
  refusalOf({ ...fault, error: fault.message });
