import { TurnbuckleError } from 'turnbuckle';
import type { CommandContext } from '../command.js';
import { connectForUse, unlessKnown } from '../connect-servers.js';
import { shellWord } from '../shell-word.js';
import { showResource } from '../show-content.js';
import { showLine } from '../untrusted-text.js';
import { withServers } from '../with-servers.js';
import { needWord } from '../words.js';

export async function run(context: CommandContext): Promise<void> {
  const { output, flags, signal } = context;
  const server = needWord(context, 0, 'server');
  const uri = needWord(context, 1, "resource's URI");
  await withServers(context, async (servers) => {
    const unknown = await connectForUse(context, servers, server);
    const reading = servers.readResource(server, uri, { signal }).catch((error: unknown) => {
      throw withListHint(error, server);
    });
    const result = await output.during(`Reading ${showLine(uri)}`, reading.catch(unlessKnown(unknown)));
    if (output.json) return output.data(result);
    const directory = typeof flags.output === 'string' ? flags.output : '.';
    for (const [index, contents] of result.contents.entries())
      await showResource(contents, index + 1, { output, directory, stem: `${server}-resource` });
  });
}

/** Where to find the ones there are. */
function withListHint(error: unknown, server: string): unknown {
  if (!(error instanceof TurnbuckleError) || error.code !== 'RESOURCE_UNKNOWN') return error;
  const { code, message, data, cause } = error;
  const hint = `turnbuckle resources ${shellWord(server)} lists what there is.`;
  return new TurnbuckleError(code, message, { server, data, cause, hint });
}
