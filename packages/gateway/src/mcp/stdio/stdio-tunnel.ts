/** `serve --stdio` through the daemon: the lines of its client arrive on one connection and are handled like any agent's. */
import type { IncomingHttpHeaders } from 'node:http';
import { TurnbuckleError } from 'turnbuckle';
import type { TunnelRequest, TunnelRoute } from '../../http/server/tunnels.js';
import { hostOrCaller } from '../../identity/host-or-caller.js';
import type { Identity } from '../../identity/identity.js';
import { onIdentityEnd } from '../../identity/identity-end.js';
import type { McpEndpoint } from '../mcp-endpoint.js';
import { createStdioCaller, type StdioCaller } from './stdio-caller.js';

/** In place of a path. */
const STDIO_TARGET = 'mcp-stdio:0';
/** The same limit as for a body: a larger line would block all others. */
const MAX_LINE_BYTES = 4 * 1_024 * 1_024;

type FindToken = (name: string) => Identity | undefined;

export function createStdioTunnel(endpoint: McpEndpoint, findToken: FindToken): TunnelRoute {
  return {
    target: STDIO_TARGET,
    access: 'call',
    prepare: (request) => {
      const view = headerOf(request.headers, 'turnbuckle-view');
      if (endpoint.viewContext(view) === undefined)
        throw new TurnbuckleError('PATH_UNKNOWN', `There is no view named "${view}".`, {
          hint: 'Views are defined in daemon.views. List your config files: turnbuckle config',
        });
      const { callerOf: caller, identity } = callerFor(request, findToken);
      return async ({ socket, closing, ended, limiter }) => {
        // The token that it was opened with may be a different one.
        const forget = identity === undefined ? () => {} : onIdentityEnd(identity, () => ended.cancel());
        socket.once('close', forget);
        const streams = {
          input: socket,
          output: socket,
          caller,
          closing,
          ended,
          limiter,
          maxBytes: MAX_LINE_BYTES,
        };
        await endpoint.serveStdio(streams, view);
      };
    },
  };
}

/** Only the owner's token may choose the caller; any other token is its own caller. */
function callerFor({ headers, identity }: TunnelRequest, findToken: FindToken): StdioCaller {
  const name = headerOf(headers, 'turnbuckle-caller');
  const words = headerOf(headers, 'turnbuckle-capabilities');
  const { caller } = identity;
  if (hostOrCaller(caller) === undefined)
    return createStdioCaller({ name, capabilities: words?.split(/[ ,]+/).filter(Boolean) }, findToken);
  if ((name === undefined || name === caller.id) && words === undefined)
    return { callerOf: () => caller, identity: undefined };
  throw new TurnbuckleError('ACCESS_DENIED', 'This token cannot act for another caller.', {
    hint: "Remove --as and --capability, or use the owner's token.",
  });
}

function headerOf(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name];
  return typeof value === 'string' && value !== '' ? value : undefined;
}
