import type { CatalogTool } from 'turnbuckle';
import type { CommandContext } from '../command.js';
import { connectOneOrAll } from '../connect-servers.js';
import { flagText } from '../flag-text.js';
import { nearestWord } from '../nearest-word.js';
import type { Servers } from '../servers.js';
import { shellWord } from '../shell-word.js';
import { textTable } from '../text-table.js';
import { toSignature } from '../typescript-signature.js';
import { showLine, showText } from '../untrusted-text.js';
import { withServers } from '../with-servers.js';

export async function run(context: CommandContext): Promise<void> {
  const { output, flags } = context;
  await withServers(context, async (servers) => {
    const tools = await findTools(context, servers);
    if (output.json) return output.data(tools.map(toJson));
    if (tools.length === 0) return output.note(nothingFound(context, servers));
    if (flags.ts === true) for (const tool of tools) showSignature(context, tool);
    else if (flags.schema === true) for (const tool of tools) showSchema(context, tool);
    else
      for (const line of textTable(
        tools.map((tool) => [
          showLine(tool.server, 60),
          showLine(tool.tool, 200),
          `${warning(context, tool, '  ')}${output.color.dim(showLine(tool.description ?? '', 400))}`,
        ]),
        output,
      ))
        output.line(line);
  });
}

/** Why the list is empty, and what to do about it. */
function nothingFound({ words }: CommandContext, servers: Servers): string {
  const names = servers.serverNames();
  if (names.length === 0)
    return 'There are no servers yet. Add one: turnbuckle add <name> -- <command>, or turnbuckle import';
  const [first = ''] = words;
  const named = names.includes(first);
  const search = words.slice(named ? 1 : 0);
  if (search.length === 0) return 'There are no tools. turnbuckle doctor checks the servers.';
  const nothing = `No tool has to do with "${showLine(search.join(' '))}".`;
  const meant = named ? undefined : nearestWord(first, names);
  return meant === undefined
    ? `${nothing} All of them: turnbuckle tools${named ? ` ${shellWord(first)}` : ''}`
    : `${nothing} Did you mean the server? turnbuckle tools ${shellWord(meant)}`;
}

/** The first word may be a server; then only that one is connected. The rest are search words. */
async function findTools(context: CommandContext, servers: Servers): Promise<readonly CatalogTool[]> {
  const { words } = context;
  const server = servers.serverNames().find((name) => name === words[0]);
  await connectOneOrAll(context, servers, server);
  const search = words.slice(server === undefined ? 0 : 1).map((word) => word.toLowerCase());
  const all = server === undefined ? servers.tools() : servers.catalog.listByServer(server);
  return all.filter((tool) => {
    const haystack = `${tool.name} ${tool.title ?? ''} ${tool.description ?? ''}`.toLowerCase();
    return search.every((word) => haystack.includes(word));
  });
}

/** Why to look at it, before its own words; nothing when there is no reason to. */
function warning({ output }: CommandContext, tool: CatalogTool, end: string): string {
  const text = flagText(tool);
  return text === '' ? '' : `${output.color.yellow(`⚠ ${text}`)}${end}`;
}

function showSignature(context: CommandContext, tool: CatalogTool): void {
  const text = flagText(tool);
  context.output.line(`${text === '' ? '' : `// ⚠ ${text}\n`}${toSignature(tool)}\n`);
}

function showSchema(context: CommandContext, tool: CatalogTool): void {
  const { output } = context;
  output.line(output.color.bold(showLine(tool.displayName, 200)));
  if (tool.flags.length > 0) output.line(warning(context, tool, ''));
  if (tool.description !== undefined) output.line(showText(tool.description));
  output.line(`${showText(JSON.stringify(tool.inputSchema, null, 2))}\n`);
}

const toJson = ({ definition: _definition, ...tool }: CatalogTool): Record<string, unknown> => tool;
