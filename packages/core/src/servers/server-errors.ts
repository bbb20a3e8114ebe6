/** Errors for a server that is unknown, disabled, one too many, out of connections, or closed to a caller. */
import { isNamedByClient } from '../config/schema/credentials-schema.js';
import { TurnbuckleError } from '../errors.js';
import { nearest } from '../text/nearest.js';
import { shellQuote } from '../text/shell-quote.js';

export function unknownServer(name: string, known: Iterable<string>): TurnbuckleError {
  const close = nearest(name, known);
  return new TurnbuckleError('SERVER_UNKNOWN', `There is no server named "${name}".`, {
    server: name,
    hint:
      close === undefined
        ? 'List the configured servers with status(), GET /servers, or: turnbuckle list'
        : `Did you mean "${close}"?`,
  });
}

export function serverDisabled(server: string): TurnbuckleError {
  return new TurnbuckleError('SERVER_DISABLED', `Server "${server}" is disabled.`, {
    server,
    hint: `Enable it: turnbuckle enable ${shellQuote(server)} (in a program: runtime.toggle(${JSON.stringify(server)}, true)).`,
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
    { server: name, hint: 'Set "share" to "shared", close some sessions, or raise limits.maxConnections.' },
  );
}

export const nameTaken = (server: string): TurnbuckleError =>
  new TurnbuckleError('NAME_TAKEN', `Server "${server}" already exists.`, {
    server,
    hint: `Choose another name, or remove the other server first: removeServer("${server}").`,
  });

export function tooManyServers(server: string, maxServers: number): TurnbuckleError {
  return new TurnbuckleError(
    'SERVER_LIMIT',
    `Cannot add server "${server}" because the limit of ${maxServers} ${maxServers === 1 ? 'server' : 'servers'} is reached.`,
    {
      server,
      hint: 'Remove a server, or raise limits.maxServers.',
    },
  );
}

export function credentialsMissing(server: string, caller: string): TurnbuckleError {
  return new TurnbuckleError('AUTH_REQUIRED', `Server "${server}" has no credentials for "${caller}".`, {
    server,
    hint: isNamedByClient(caller)
      ? `The client has no token. In the server's configuration, add an entry with the name of a token to "credentials". In the client's configuration, use this command: turnbuckle serve --stdio --as <name>`
      : `Add them to the server's configuration: "credentials": { ${JSON.stringify(caller)}: { … } }`,
    data: { sent: false },
  });
}
