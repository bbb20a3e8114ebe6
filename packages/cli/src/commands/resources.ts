import type { CommandContext } from '../command.js';
import { withServers } from '../daemon/with-servers.js';
import { connectOneOrAll } from '../session/connect-servers.js';
import { textTable } from '../terminal/text-table.js';
import { showLine } from '../terminal/untrusted-text.js';

/** It is there to be copied. */
const MAX_URI_WIDTH = 2_000;

export async function run(context: CommandContext): Promise<void> {
  const { output, positionals } = context;
  await withServers(context, async (servers) => {
    const [server] = positionals;
    await connectOneOrAll(context, servers, server);
    const resources = await servers.listResources(server);
    const templates = await servers.listResourceTemplates(server);
    if (output.json) return output.data({ resources, templates });
    if (resources.length + templates.length === 0) return output.note('No resources.');
    const all = [
      ...resources,
      ...templates.map(({ uriTemplate, ...template }) => ({ ...template, uri: uriTemplate })),
    ];
    // What a server has stays together: its templates behind its resources.
    const owners = [...new Set(all.map((one) => one.server))];
    const rows = owners
      .flatMap((owner) => all.filter((one) => one.server === owner))
      .map(({ server: owner, uri, name }) => [
        showLine(owner, 60),
        showLine(uri, MAX_URI_WIDTH),
        output.color.dim(showLine(name ?? '', 400)),
      ]);
    for (const line of textTable(rows, output)) output.line(line);
  });
}
