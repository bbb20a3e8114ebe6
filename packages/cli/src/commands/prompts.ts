import type { CommandContext } from '../command.js';
import { withServers } from '../daemon/with-servers.js';
import { connectOneOrAll } from '../session/connect-servers.js';
import { textTable } from '../terminal/text-table.js';
import { showLine } from '../terminal/untrusted-text.js';

export async function run(context: CommandContext): Promise<void> {
  const { output, positionals } = context;
  await withServers(context, async (servers) => {
    const [server] = positionals;
    await connectOneOrAll(context, servers, server);
    const prompts = await servers.listPrompts(server);
    if (output.json) return output.data(prompts);
    if (prompts.length === 0) return output.note('No prompts.');
    const rows = prompts.map(({ server: owner, name, arguments: args = [], description }) => [
      showLine(owner, 60),
      showLine(name, 60),
      showLine(args.map((arg) => (arg.required === true ? arg.name : `[${arg.name}]`)).join(' ')),
      output.color.dim(showLine(description ?? '', 400)),
    ]);
    for (const line of textTable(rows, output)) output.line(line);
  });
}
