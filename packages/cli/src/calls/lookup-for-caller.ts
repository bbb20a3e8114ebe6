/** Finds tools for an agent that has credentials of its own at a server: it does not need those of the server. */
import type { Caller, CatalogTool, Runtime } from 'turnbuckle';
import { hasCredentials } from '../session/agent-credentials.js';
import type { ToolLookup } from '../session/servers.js';

export function lookupForCaller(runtime: Runtime, caller: Caller | undefined): ToolLookup {
  if (caller === undefined) return runtime;
  const { catalog } = runtime;
  const own = (): readonly CatalogTool[] => runtime.toolsForAgent(caller);
  return {
    serverNames: () => runtime.serverNames(),
    serverStatus: (server) => runtime.serverStatus(server),
    status: () => runtime.status(),
    connect: (server, options) =>
      runtime.connect(
        server,
        hasCredentials(runtime.serverStatus(server), caller.id) ? { ...options, caller } : options,
      ),
    tools: () => runtime.tools(),
    catalog: {
      find: (server, tool) =>
        catalog.find(server, tool) ?? own().find((one) => one.server === server && one.tool === tool),
      get: (name) => catalog.get(name) ?? own().find((one) => one.name === name),
      listByServer: (server) => [
        ...catalog.listByServer(server),
        ...own().filter((one) => one.server === server && catalog.find(server, one.tool) === undefined),
      ],
    },
  };
}
