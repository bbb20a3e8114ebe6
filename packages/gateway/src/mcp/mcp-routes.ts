/** The MCP endpoint at `/mcp`, and one for each view at `/mcp/<view>`. */
import { TurnbuckleError } from 'turnbuckle';
import { readText } from '../http/body.js';
import type { RequestContext } from '../http/request-context.js';
import type { Route } from '../http/route.js';
import type { McpEndpoint } from './mcp-endpoint.js';
import type { ViewContext } from './view-context.js';

export function createMcpRoutes(endpoint: McpEndpoint): readonly Route[] {
  return ['/mcp', '/mcp/:view'].flatMap((path): Route[] => [
    {
      method: 'POST',
      path,
      access: 'call',
      summary: 'Send an MCP message in any protocol revision',
      handle: async (context) =>
        endpoint.http.post(viewContextOf(endpoint, context), context, await readText(context)),
    },
    {
      method: 'GET',
      path,
      access: 'call',
      summary: 'Open the event stream for a session (older protocol revisions)',
      handle: (context) => endpoint.http.get(viewContextOf(endpoint, context), context),
    },
    {
      method: 'DELETE',
      path,
      access: 'call',
      summary: 'End a session (older protocol revisions)',
      handle: (context) => endpoint.http.delete(viewContextOf(endpoint, context), context),
    },
  ]);
}

function viewContextOf(endpoint: McpEndpoint, { parameters: { view } }: RequestContext): ViewContext {
  const viewContext = endpoint.viewContext(view);
  if (viewContext === undefined)
    throw new TurnbuckleError('PATH_UNKNOWN', `There is no view named "${view}".`, {
      hint: 'Views are defined in daemon.views. List your config files: turnbuckle config',
    });
  return viewContext;
}
