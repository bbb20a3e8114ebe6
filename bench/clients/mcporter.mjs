/** @param {import('../subjects.mjs').ServerSpec} server */
const toDefinition = (server) => ({
  name: server.name,
  command:
    server.transport === 'http'
      ? { kind: 'http', url: new URL(server.url) }
      : { kind: 'stdio', command: server.command, args: server.args, cwd: process.cwd() },
});

/** @type {import('../subjects.mjs').LoadClient} */
export async function load({ importPeer }) {
  const { createRuntime } = await importPeer('mcporter');

  return async (servers) => {
    const runtime = await createRuntime({ servers: servers.map(toDefinition) });
    const lists = await Promise.all(
      servers.map(({ name }) => runtime.listTools(name, { includeSchema: true })),
    );
    return {
      toolCount: lists.reduce((sum, tools) => sum + tools.length, 0),
      call: async (server, tool, args) => {
        const result = await runtime.callTool(server, tool, { args });
        return result.content[0].text;
      },
      close: () => runtime.close(),
    };
  };
}
