/** Errors of the "connect" and "send" steps that Turnbuckle raises itself. */
import type { CancelSignal } from '../../async/cancel-signal.js';
import { TurnbuckleError } from '../../errors.js';
import { COOLDOWN_MS } from '../../resilience/caller-cooldowns.js';
import type { Limiter } from '../../resilience/limiter.js';
import type { Server } from '../../servers/server.js';
import { shellQuote } from '../../text/shell-quote.js';

export function overloaded({ name }: Server, { inFlight, queued }: Limiter): TurnbuckleError {
  return new TurnbuckleError('OVERLOADED', `Too many calls are waiting for server "${name}".`, {
    server: name,
    hint: `${inFlight} calls are in flight and ${queued} are queued. Each caller also has its own, smaller limit. Try again later, or raise maxInFlight.`,
  });
}

export function serverUnresponsive({ name }: Server): TurnbuckleError {
  return new TurnbuckleError(
    'OVERLOADED',
    `Server "${name}" stopped responding to your calls, so your queued calls were dropped.`,
    {
      server: name,
      hint: 'This call was not sent. If the server forwards calls back to this gateway (a loop), remove it from the configuration.',
    },
  );
}

export function callerCoolingDown({ name }: Server): TurnbuckleError {
  return new TurnbuckleError('OVERLOADED', `Server "${name}" did not respond to your most recent calls.`, {
    server: name,
    hint: `This call was not sent. Try again in ${COOLDOWN_MS / 1_000} seconds, and check the server's output: turnbuckle logs ${shellQuote(name)}`,
  });
}

/** CALL_CANCELLED for a cancelled call: nothing is connected and nothing is sent. */
export function assertNotCancelled(signal: CancelSignal | undefined): void {
  if (signal?.aborted === true)
    throw new TurnbuckleError('CALL_CANCELLED', 'The call was cancelled before it began.');
}

export const cancelledInQueue = (): TurnbuckleError =>
  new TurnbuckleError('CALL_CANCELLED', 'The call was cancelled while it was queued.');

export function breakerOpen(server: Server, waitMs: number): TurnbuckleError {
  const { name, connection } = server;
  const lastError =
    connection.error === undefined
      ? `Show its status with recentErrors in status(), or: turnbuckle doctor ${shellQuote(name)}`
      : `Last error: ${connection.error.message}`;
  return new TurnbuckleError(
    'BREAKER_OPEN',
    `Circuit breaker open for server "${name}" after repeated failures.`,
    {
      server: name,
      cause: connection.error,
      hint: `Next attempt in ${Math.ceil(waitMs / 1_000)} s. ${lastError}`,
    },
  );
}

export function outcomeUnknown(server: Server, cause: TurnbuckleError): TurnbuckleError {
  const why = server.connection.error?.message ?? cause.message;
  return new TurnbuckleError(
    'CALL_OUTCOME_UNKNOWN',
    `Lost the connection to server "${server.name}" before the server responded. The call may or may not have run.`,
    {
      server: server.name,
      cause,
      hint: `Check whether the call ran before you repeat it. ${why}`,
    },
  );
}
