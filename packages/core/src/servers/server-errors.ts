/** Errors for a server that is unknown, disabled, or out of connections. */
import { TurnbuckleError } from '../errors.js';
import { nearest } from '../text/nearest.js';

export function unknownServer(name: string, known: Iterable<string>): TurnbuckleError {
  const close = nearest(name, known);
  return new TurnbuckleError('SERVER_UNKNOWN', `There is no server named "${name}".`, {
    server: name,
    hint:
      close === undefined
        ? 'List the configured servers: turnbuckle list, status() or GET /servers.'
        : `Did you mean "${close}"?`,
  });
}

export function serverDisabled(server: string): TurnbuckleError {
  return new TurnbuckleError('SERVER_DISABLED', `Server "${server}" is disabled.`, {
    server,
    hint: `Enable it: turnbuckle enable ${server}, or toggle("${server}", true).`,
  });
}

export function tooManyConnections({
  name,
  connectionsApart,
}: {
  readonly name: string;
  readonly connectionsApart: number;
}): TurnbuckleError {
  return new TurnbuckleError(
    'OVERLOADED',
    `Server "${name}" has reached its limit of ${connectionsApart} connections for agents and sessions.`,
    { server: name, hint: 'Set "share" to "shared", end some sessions, or raise limits.maxConnections.' },
  );
}
