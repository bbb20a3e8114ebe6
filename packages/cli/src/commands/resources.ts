import type { CommandContext } from '../command.js';
import { connectOneOrAll } from '../connect-servers.js';
import { textTable } from '../text-table.js';
import { showLine } from '../untrusted-text.js';
import { withServers } from '../with-servers.js';

/** It is there to be copied. */
const LONGEST_URI = 2_000;

export async function run(context: CommandContext): Promise<void> {
  const { output, words } = context;
  await withServers(context, async (servers) => {
    const [server] = words;
    await connectOneOrAll(context, servers, server);
    const resources = await servers.listResources(server);
    const templates = await servers.listResourceTemplates(server);
    if (output.json) return output.data({ resources, templates });
    if (resources.length + templates.length === 0) return output.note('There are no resources.');
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
        showLine(uri, LONGEST_URI),
        output.color.dim(showLine(name ?? '', 400)),
      ]);
    for (const line of textTable(rows, output)) output.line(line);
  });
}
