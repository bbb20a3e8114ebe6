import { TurnbuckleError } from 'turnbuckle';
import { withRuntime } from '../open.js';
import { needWord } from '../words.js';
export async function run(context) {
  const { output } = context;
  const server = needWord(context, 0, 'server');
  await withRuntime(context, async ({ runtime }) => {
    await output.during(`Connecting ${server}`, runtime.connect(server));
    const alive = await output.during(`Asking ${server}`, runtime.ping(server));
    const { lastPing, protocolVersion, era } = runtime.serverStatus(server);
    if (!alive)
      throw new TurnbuckleError('CONNECTION_LOST', `Server "${server}" did not answer.`, { server });
    if (output.json) output.data({ server, alive, ms: lastPing?.ms, protocolVersion, era });
    else output.line(`${server} answered in ${lastPing?.ms} ms (${protocolVersion}, ${era})`);
  });
}
//# sourceMappingURL=ping.js.map
