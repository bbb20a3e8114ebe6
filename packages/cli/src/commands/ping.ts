import { TurnbuckleError } from 'turnbuckle';
import type { CommandContext } from '../command.js';
import { connectOneOrAll } from '../connect-servers.js';
import { shellWord } from '../shell-word.js';
import { showLine } from '../untrusted-text.js';
import { withServers } from '../with-servers.js';
import { needWord } from '../words.js';

export async function run(context: CommandContext): Promise<void> {
  const { output } = context;
  const server = needWord(context, 0, 'server');
  await withServers(context, async (servers) => {
    await connectOneOrAll(context, servers, server);
    const alive = await output.during(`Asking ${showLine(server, 60)}`, servers.ping(server));
    const { lastPing, protocolVersion, era } = servers.serverStatus(server);
    if (!alive)
      throw new TurnbuckleError('CONNECTION_LOST', `Server "${server}" did not answer.`, {
        server,
        hint: `What it says: turnbuckle logs ${shellWord(server)}`,
      });
    if (output.json) output.data({ server, alive, ms: lastPing?.ms, protocolVersion, era });
    else {
      const spoken = showLine(`${protocolVersion}, ${era}`, 60);
      output.line(`${showLine(server, 60)} answered in ${Number(lastPing?.ms)} ms (${spoken})`);
    }
  });
}
