import type { CatalogTool, Runtime } from 'turnbuckle';
import type { CommandContext } from '../command.js';
import { connectOneOrAll } from '../connect-servers.js';
import { withRuntime } from '../open.js';
import { textTable } from '../text-table.js';
import { toSignature } from '../typescript-signature.js';
import { showLine, showText } from '../untrusted-text.js';

export async function run(context: CommandContext): Promise<void> {
  const { output, flags } = context;
  await withRuntime(context, async ({ runtime }) => {
    const tools = await findTools(context, runtime);
    if (output.json) return output.data(tools.map(toJson));
    if (tools.length === 0) return output.note(nothingFound(context, runtime));
    if (flags.ts === true) for (const tool of tools) output.line(`${toSignature(tool)}\n`);
    else if (flags.schema === true) for (const tool of tools) showSchema(context, tool);
    else
      for (const line of textTable(
        tools.map((tool) => [
          showLine(tool.server, 60),
          showLine(tool.tool, 80),
          output.color.dim(showLine(tool.description ?? '', 80)),
        ]),
      ))
        output.line(line);
  });
}

/** Why the list is empty, and what to do about it. */
function nothingFound({ words }: CommandContext, runtime: Runtime): string {
  if (runtime.status().length === 0)
    return 'There are no servers yet. Add one: turnbuckle add <name> -- <command>, or turnbuckle import';
  const named = runtime.status().some(({ name }) => name === words[0]);
  const search = words.slice(named ? 1 : 0);
  return search.length === 0
    ? 'There are no tools. turnbuckle doctor checks the servers.'
    : `No tool has to do with "${search.join(' ')}". All of them: turnbuckle tools${named ? ` ${words[0]}` : ''}`;
}

/** The first word may be a server; then only that one is connected. The rest are search words. */
async function findTools(context: CommandContext, runtime: Runtime): Promise<readonly CatalogTool[]> {
  const { words } = context;
  const server = runtime.status().find(({ name }) => name === words[0])?.name;
  await connectOneOrAll(context, runtime, server);
  const search = words.slice(server === undefined ? 0 : 1).map((word) => word.toLowerCase());
  const all = server === undefined ? runtime.tools() : runtime.catalog.listByServer(server);
  return all.filter((tool) => {
    const haystack = `${tool.name} ${tool.title ?? ''} ${tool.description ?? ''}`.toLowerCase();
    return search.every((word) => haystack.includes(word));
  });
}

function showSchema({ output }: CommandContext, tool: CatalogTool): void {
  output.line(output.color.bold(showLine(tool.displayName, 200)));
  if (tool.description !== undefined) output.line(showText(tool.description));
  output.line(`${showText(JSON.stringify(tool.inputSchema, null, 2))}\n`);
}

const toJson = ({ definition: _definition, ...tool }: CatalogTool): Record<string, unknown> => tool;
