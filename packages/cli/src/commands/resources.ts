import type { CommandContext } from '../command.js';
import { connectOneOrAll } from '../connect-servers.js';
import { withRuntime } from '../open.js';
import { textTable } from '../text-table.js';
import { showLine } from '../untrusted-text.js';

export async function run(context: CommandContext): Promise<void> {
  const { output, words } = context;
  await withRuntime(context, async ({ runtime }) => {
    const [server] = words;
    await connectOneOrAll(context, runtime, server);
    const resources = await runtime.listResources(server);
    const templates = await runtime.listResourceTemplates(server);
    if (output.json) return output.data({ resources, templates });
    if (resources.length + templates.length === 0) return output.note('There are no resources.');
    const rows = [
      ...resources.map(({ server: owner, uri, name }) => [
        showLine(owner, 60),
        showLine(uri),
        output.color.dim(showLine(name ?? '', 60)),
      ]),
      ...templates.map(({ server: owner, uriTemplate, name }) => [
        showLine(owner, 60),
        showLine(uriTemplate),
        output.color.dim(showLine(name ?? '', 60)),
      ]),
    ];
    for (const line of textTable(rows)) output.line(line);
  });
}
