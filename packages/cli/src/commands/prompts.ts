import type { CommandContext } from '../command.js';
import { connectOneOrAll } from '../connect-servers.js';
import { textTable } from '../text-table.js';
import { showLine } from '../untrusted-text.js';
import { withServers } from '../with-servers.js';

export async function run(context: CommandContext): Promise<void> {
  const { output, words } = context;
  await withServers(context, async (servers) => {
    const [server] = words;
    await connectOneOrAll(context, servers, server);
    const prompts = await servers.listPrompts(server);
    if (output.json) return output.data(prompts);
    if (prompts.length === 0) return output.note('There are no prompts.');
    const rows = prompts.map(({ server: owner, name, arguments: args = [], description }) => [
      showLine(owner, 60),
      showLine(name, 60),
      showLine(args.map((arg) => (arg.required === true ? arg.name : `[${arg.name}]`)).join(' ')),
      output.color.dim(showLine(description ?? '', 400)),
    ]);
    for (const line of textTable(rows, output)) output.line(line);
  });
}
