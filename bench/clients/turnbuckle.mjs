// Our library as a host with agents runs it: servers by configuration, every guard at its default, express lane on. The
// calls are an agent's, a rule allows them, and a listener records them.

const agent = { id: 'bench', capabilities: ['mcp_integration'] };
const rules = [{ action: 'allow', caller: agent.id, server: '*', tool: '*' }];

/** @param {import('../subjects.mjs').ServerSpec} server */
const toConfig = (server) =>
  server.transport === 'http'
    ? { type: 'http', url: server.url }
    : { command: server.command, args: server.args };

/** @returns {import('../subjects.mjs').Session['call']} */
const createCall = (runtime) => async (server, tool, args) => {
  const result = await runtime.call({ server, tool, arguments: args, caller: agent });
  return result.content[0].text;
};

/** @returns {import('../subjects.mjs').Session['call']} */
const createExecute = (runtime) => async (server, tool, args) => {
  const { result, error } = await runtime.execute(`mcp__${server}__${tool}`, args, { caller: agent });
  if (error) throw new Error(JSON.stringify(error));
  return result;
};

/** @type {import('../subjects.mjs').LoadClient} */
export async function load({ settings }) {
  const { createRuntime } = await import('turnbuckle');
  const { preload } = await import('turnbuckle/host');
  // Load time is not part of any figure; without this, our library loads its parts when they are first needed.
  await preload();

  return async (servers) => {
    const runtime = await createRuntime({
      servers: Object.fromEntries(servers.map((server) => [server.name, toConfig(server)])),
      expressLane: true,
      rules,
      ...(settings.stateDir === undefined ? {} : { stateDir: settings.stateDir }),
    });
    let recorded = 0;
    runtime.on('call.settled', ({ outcome }) => {
      if (outcome === 'ok') recorded += 1;
    });
    await runtime.connectAll();
    // The list is not stored here: the memory figure counts only the memory of the library.
    const toolCount = runtime.tools().filter((tool) => !tool.native).length;
    return {
      toolCount,
      call: settings.method === 'execute' ? createExecute(runtime) : createCall(runtime),
      get recorded() {
        return recorded;
      },
      close: () => runtime.close(),
    };
  };
}
