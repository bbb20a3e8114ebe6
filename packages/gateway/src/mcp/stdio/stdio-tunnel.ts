/** `serve --stdio` through the daemon: the lines of its client come over one connection, and are served like any agent's. */
import type { IncomingHttpHeaders } from 'node:http';
import { TurnbuckleError } from 'turnbuckle';
import { hostOrCaller } from '../host-or-caller.js';
import type { TunnelRequest, TunnelRoute } from '../http/tunnels.js';
import type { Visitor } from '../http/visitor.js';
import { onVisitorEnd } from '../http/visitor-end.js';
import type { McpFront } from './mcp-front.js';
import { type StdioCaller, stdioCaller } from './stdio-caller.js';

/** In the place of a path. */
const STDIO_TARGET = 'mcp-stdio:0';
/** As for a body: what is larger would keep all others waiting. */
const MAX_BYTES = 4 * 1_024 * 1_024;

type TokenNamed = (name: string) => Visitor | undefined;

export function createStdioTunnel(front: McpFront, tokenNamed: TokenNamed): TunnelRoute {
  return {
    target: STDIO_TARGET,
    access: 'call',
    prepare: (request) => {
      const view = headerOf(request.headers, 'turnbuckle-view');
      if (front.desk(view) === undefined)
        throw new TurnbuckleError('PATH_UNKNOWN', `There is no view named "${view}".`, {
          hint: 'Views are in daemon.views of your configuration: turnbuckle config shows its files.',
        });
      const { callerOf: caller, visitor } = callerFor(request, tokenNamed);
      return async ({ socket, ends, ended, gate }) => {
        // The token that it was opened with may be another one.
        const forget = visitor === undefined ? () => {} : onVisitorEnd(visitor, () => ended.cancel());
        socket.once('close', forget);
        const streams = { input: socket, output: socket, caller, ends, ended, gate, maxBytes: MAX_BYTES };
        await front.serveStdio(streams, view);
      };
    },
  };
}

/** Only who has the owner's token says whom an agent is taken for; every other token is who it is. */
function callerFor({ headers, visitor }: TunnelRequest, tokenNamed: TokenNamed): StdioCaller {
  const name = headerOf(headers, 'turnbuckle-caller');
  const words = headerOf(headers, 'turnbuckle-capabilities');
  const { caller } = visitor;
  if (hostOrCaller(caller) === undefined)
    return stdioCaller({ name, capabilities: words?.split(/[ ,]+/).filter(Boolean) }, tokenNamed);
  if ((name === undefined || name === caller.id) && words === undefined)
    return { callerOf: () => caller, visitor: undefined };
  throw new TurnbuckleError('ACCESS_DENIED', 'This token is for one caller, and cannot speak for another.', {
    hint: "Leave --as and --capability out, or use the owner's token.",
  });
}

function headerOf(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name];
  return typeof value === 'string' && value !== '' ? value : undefined;
}
