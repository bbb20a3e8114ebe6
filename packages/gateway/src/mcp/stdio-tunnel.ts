/** `serve --stdio` through the daemon: the lines of its client come over one connection, and are served like any agent's. */
import type { IncomingHttpHeaders } from 'node:http';
import { TurnbuckleError } from 'turnbuckle';
import { hostOrCaller } from '../host-or-caller.js';
import type { TunnelRequest, TunnelRoute } from '../http/tunnels.js';
import type { TokenFacts } from '../tokens/token-store.js';
import type { McpFront } from './mcp-front.js';
import { stdioCaller } from './stdio-caller.js';
import type { StdioEndpointOptions } from './stdio-endpoint.js';

/** In the place of a path. */
const STDIO_TARGET = 'mcp-stdio:0';
/** As for a body: what is larger would keep all others waiting. */
const MAX_BYTES = 4 * 1_024 * 1_024;

export function createStdioTunnel(front: McpFront, tokens: () => readonly TokenFacts[]): TunnelRoute {
  return {
    target: STDIO_TARGET,
    access: 'call',
    prepare: (request) => {
      const view = headerOf(request.headers, 'turnbuckle-view');
      if (front.desk(view) === undefined)
        throw new TurnbuckleError('PATH_UNKNOWN', `There is no view named "${view}".`, {
          hint: 'Views are in daemon.views of your configuration.',
        });
      const caller = callerFor(request, tokens);
      return (socket, ends, gate) =>
        front.serveStdio({ input: socket, output: socket, caller, ends, gate, maxBytes: MAX_BYTES }, view);
    },
  };
}

/** Only who has the owner's token says whom an agent is taken for; every other token is who it is. */
function callerFor(
  { headers, visitor }: TunnelRequest,
  tokens: () => readonly TokenFacts[],
): StdioEndpointOptions['caller'] {
  const name = headerOf(headers, 'turnbuckle-caller');
  const words = headerOf(headers, 'turnbuckle-capabilities');
  if (hostOrCaller(visitor.caller) === undefined)
    return stdioCaller({ name, capabilities: words?.split(/[ ,]+/).filter(Boolean) }, tokens());
  if ((name === undefined || name === visitor.caller.id) && words === undefined) return visitor.caller;
  throw new TurnbuckleError('ACCESS_DENIED', 'This token is for one caller, and cannot speak for another.', {
    hint: "Leave --as and --capability out, or use the owner's token.",
  });
}

function headerOf(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name];
  return typeof value === 'string' && value !== '' ? value : undefined;
}
