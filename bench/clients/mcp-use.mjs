/** @param {import('../subjects.mjs').ServerSpec} server */
const toConfig = (server) =>
  server.transport === 'http' ? { url: server.url } : { command: server.command, args: server.args };

/** @type {import('../subjects.mjs').LoadClient} */
export async function load({ importPeer }) {
  process.env.MCP_USE_ANONYMIZED_TELEMETRY = 'false';
  const { MCPClient } = await importPeer('mcp-use/client');

  return async (servers) => {
    const mcpServers = Object.fromEntries(servers.map((server) => [server.name, toConfig(server)]));
    const client = new MCPClient({ mcpServers });
    await client.createAllSessions();
    const sessions = new Map(servers.map(({ name }) => [name, client.getSession(name)]));
    const lists = await Promise.all([...sessions.values()].map((session) => session.listTools()));
    return {
      toolCount: lists.reduce((sum, tools) => sum + tools.length, 0),
      call: async (server, tool, args) => {
        const result = await sessions.get(server).callTool(tool, args);
        return result.content[0].text;
      },
      close: () => client.closeAllSessions(),
    };
  };
}
