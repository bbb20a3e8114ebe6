import { TurnbuckleError } from 'turnbuckle';
import { shellQuote } from 'turnbuckle/light';
import type { CommandContext } from '../command.js';
import { requirePositional } from '../command-line/positionals.js';
import { withServers } from '../daemon/with-servers.js';
import { connectForUse, preferKnownError } from '../session/connect-servers.js';
import { showResource } from '../terminal/show-content.js';
import { showLine } from '../terminal/untrusted-text.js';

export async function run(context: CommandContext): Promise<void> {
  const { output, flags, signal } = context;
  const server = requirePositional(context, 0, 'server');
  const uri = requirePositional(context, 1, 'resource URI');
  await withServers(context, async (servers) => {
    const unknown = await connectForUse(context, servers, server);
    const reading = servers.readResource(server, uri, { signal }).catch((error: unknown) => {
      throw withListHint(error, server);
    });
    const result = await output.withSpinner(
      `Reading ${showLine(uri)}`,
      reading.catch(preferKnownError(unknown)),
    );
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
  const hint = `List the resources: turnbuckle resources ${shellQuote(server)}`;
  return new TurnbuckleError(code, message, { server, data, cause, hint });
}
