// The reference: the official client used directly, one per server. Its default is the legacy era.

/** @type {import('../subjects.mjs').LoadClient} */
export async function load({ settings }) {
  const { Client, StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client');
  const { StdioClientTransport } = await import('@modelcontextprotocol/client/stdio');
  const options = settings.pin ? { versionNegotiation: { mode: { pin: settings.pin } } } : {};

  /** @param {import('../subjects.mjs').ServerSpec} server */
  const connect = async (server) => {
    const client = new Client({ name: 'bench', version: '1.0.0' }, options);
    const transport =
      server.transport === 'http'
        ? new StreamableHTTPClientTransport(new URL(server.url))
        : new StdioClientTransport({ command: server.command, args: server.args, stderr: 'ignore' });
    await client.connect(transport);
    const { tools } = await client.listTools();
    return { name: server.name, client, tools };
  };

  return async (servers) => {
    const links = await Promise.all(servers.map(connect));
    const clients = new Map(links.map(({ name, client }) => [name, client]));
    return {
      get toolCount() {
        return links.reduce((sum, { tools }) => sum + tools.length, 0);
      },
      call: async (server, tool, args) => {
        const result = await clients.get(server).callTool({ name: tool, arguments: args });
        return result.content[0].text;
      },
      close: () => Promise.all(links.map(({ client }) => client.close())),
    };
  };
}
