/** The MCP endpoint at `/mcp`, and one for each view at `/mcp/<view>`. */
import { TurnbuckleError } from 'turnbuckle';
import { readText } from '../http/body.js';
import type { Route } from '../http/route.js';
import type { Visit } from '../http/visit.js';
import type { Desk } from './desk.js';
import type { McpFront } from './mcp-front.js';

export function createMcpRoutes(front: McpFront): readonly Route[] {
  return ['/mcp', '/mcp/:view'].flatMap((path): Route[] => [
    {
      method: 'POST',
      path,
      access: 'call',
      summary: 'A message of an MCP client, of any revision',
      handle: async (visit) => front.http.post(deskOf(front, visit), visit, await readText(visit)),
    },
    {
      method: 'GET',
      path,
      access: 'call',
      summary: "The stream of an older client's session",
      handle: (visit) => front.http.get(deskOf(front, visit), visit),
    },
    {
      method: 'DELETE',
      path,
      access: 'call',
      summary: "The end of an older client's session",
      handle: (visit) => front.http.delete(deskOf(front, visit), visit),
    },
  ]);
}

function deskOf(front: McpFront, { parameters: { view } }: Visit): Desk {
  const desk = front.desk(view);
  if (desk === undefined)
    throw new TurnbuckleError('PATH_UNKNOWN', `There is no view named "${view}".`, {
      hint: 'Views are in daemon.views of your configuration: turnbuckle config shows its files.',
    });
  return desk;
}
