import { TurnbuckleError } from 'turnbuckle';
import { shellQuote } from 'turnbuckle/light';
import type { CommandContext } from '../command.js';
import { requirePositional } from '../command-line/positionals.js';
import { withServers } from '../daemon/with-servers.js';
import { connectOneOrAll } from '../session/connect-servers.js';
import { showLine } from '../terminal/untrusted-text.js';

export async function run(context: CommandContext): Promise<void> {
  const { output } = context;
  const server = requirePositional(context, 0, 'server');
  await withServers(context, async (servers) => {
    await connectOneOrAll(context, servers, server);
    const alive = await output.withSpinner(`Asking ${showLine(server, 60)}`, servers.ping(server));
    const { lastPing, protocolVersion, era } = servers.serverStatus(server);
    if (!alive)
      throw new TurnbuckleError('CONNECTION_LOST', `Server "${server}" did not respond.`, {
        server,
        hint: `Show the server's output: turnbuckle logs ${shellQuote(server)}`,
      });
    if (output.json) output.data({ server, alive, ms: lastPing?.ms, protocolVersion, era });
    else {
      const spoken = showLine(`${protocolVersion}, ${era}`, 60);
      output.line(`${showLine(server, 60)} responded in ${Number(lastPing?.ms)} ms (${spoken})`);
    }
  });
}
