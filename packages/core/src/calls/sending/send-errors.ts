/** The errors of the steps "connect" and "send" that come from us. */
import type { CancelSignal } from './cancel-signal.js';
import { TurnbuckleError } from './errors.js';
import type { Limiter } from './resilience/limiter.js';
import type { Server } from './server.js';

export function overloaded({ name }: Server, { inFlight, queued }: Limiter): TurnbuckleError {
  return new TurnbuckleError('OVERLOADED', `Too many calls wait for server "${name}".`, {
    server: name,
    hint: `${inFlight} are in flight and ${queued} wait; each agent has a share of that. Try again later, or raise maxInFlight.`,
  });
}

export function neverAnswered({ name }: Server): TurnbuckleError {
  return new TurnbuckleError(
    'OVERLOADED',
    `Server "${name}" has answered none of this caller's calls for so long that those that wait are given up.`,
    {
      server: name,
      hint: 'This one was not made. If the server leads back to this gateway, take it out of the configuration.',
    },
  );
}

/** CALL_CANCELLED for a caller that has given up: nothing is brought up for it, and nothing leaves. */
export function refuseCancelled(signal: CancelSignal | undefined): void {
  if (signal?.aborted === true)
    throw new TurnbuckleError('CALL_CANCELLED', 'The call was cancelled before it began.');
}

export const cancelledInQueue = (): TurnbuckleError =>
  new TurnbuckleError('CALL_CANCELLED', 'The call was cancelled while it waited for its turn.');

export function breakerOpen(server: Server, waitMs: number): TurnbuckleError {
  const { name, connection } = server;
  return new TurnbuckleError(
    'BREAKER_OPEN',
    `Server "${name}" failed several times in a row and is left alone for a while.`,
    {
      server: name,
      cause: connection.error,
      hint: `It is tried again in ${Math.ceil(waitMs / 1_000)} s. Its last error: ${connection.error?.message ?? 'see its recent errors'}`,
    },
  );
}

export function outcomeUnknown(server: Server, cause: TurnbuckleError): TurnbuckleError {
  const why = server.connection.error?.message ?? cause.message;
  return new TurnbuckleError(
    'CALL_OUTCOME_UNKNOWN',
    `The connection to server "${server.name}" was lost before it answered: the call may or may not have happened.`,
    {
      server: server.name,
      cause,
      hint: `Find out before you repeat it. ${why}`,
    },
  );
}
