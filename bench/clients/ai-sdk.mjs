/** @type {import('../subjects.mjs').LoadClient} */
export async function load({ importPeer }) {
  const { createMCPClient } = await importPeer('@ai-sdk/mcp');
  const { Experimental_StdioMCPTransport: Older, StdioMCPTransport = Older } =
    await importPeer('@ai-sdk/mcp/mcp-stdio');

  /** @param {import('../subjects.mjs').ServerSpec} server */
  const connect = async (server) => {
    const transport =
      server.transport === 'http'
        ? { type: 'http', url: server.url }
        : new StdioMCPTransport({ command: server.command, args: server.args, stderr: 'ignore' });
    const client = await createMCPClient({ transport });
    return { name: server.name, client, tools: await client.tools() };
  };

  return async (servers) => {
    const links = await Promise.all(servers.map(connect));
    const tools = new Map(links.map((link) => [link.name, link.tools]));
    const context = { toolCallId: 'bench', messages: [] };
    return {
      get toolCount() {
        return links.reduce((sum, link) => sum + Object.keys(link.tools).length, 0);
      },
      call: async (server, tool, args) => {
        const result = await tools.get(server)[tool].execute(args, context);
        return result.content[0].text;
      },
      close: () => Promise.all(links.map(({ client }) => client.close())),
    };
  };
}
