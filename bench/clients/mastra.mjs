/** @param {import('../subjects.mjs').ServerSpec} server */
const toDefinition = (server) =>
  server.transport === 'http'
    ? { url: new URL(server.url) }
    : { command: server.command, args: server.args, stderr: 'ignore' };

/** @type {import('../subjects.mjs').LoadClient} */
export async function load({ importPeer }) {
  const { MCPClient } = await importPeer('@mastra/mcp');

  return async (servers) => {
    const client = new MCPClient({
      id: `bench-${process.pid}-${performance.now()}`,
      servers: Object.fromEntries(servers.map((server) => [server.name, toDefinition(server)])),
    });
    const tools = await client.listTools();
    return {
      toolCount: Object.keys(tools).length,
      call: async (server, tool, args) => {
        const result = await tools[`${server}_${tool}`].execute(args, {});
        // A tool with an output schema returns only its structured content.
        return result.content?.[0]?.text ?? result.text;
      },
      close: () => client.disconnect(),
    };
  };
}
