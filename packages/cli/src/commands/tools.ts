import type { CatalogTool } from 'turnbuckle';
import { shellQuote } from 'turnbuckle/light';
import { describeFlags } from '../calls/describe-flags.js';
import { toSignature } from '../calls/typescript-signature.js';
import type { CommandContext } from '../command.js';
import { nearestWord } from '../command-line/nearest-word.js';
import { withServers } from '../daemon/with-servers.js';
import { connectOneOrAll } from '../session/connect-servers.js';
import type { Servers } from '../session/servers.js';
import { textTable } from '../terminal/text-table.js';
import { showLine, showText } from '../terminal/untrusted-text.js';

export async function run(context: CommandContext): Promise<void> {
  const { output, flags } = context;
  await withServers(context, async (servers) => {
    const tools = await findTools(context, servers);
    if (output.json) return output.data(tools.map((tool) => toJson(tool, servers)));
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
function nothingFound({ positionals }: CommandContext, servers: Servers): string {
  const names = servers.serverNames();
  if (names.length === 0)
    return 'No servers configured. Import servers (turnbuckle import), or add a server: turnbuckle add <name> -- <command>';
  const [first = ''] = positionals;
  const named = names.includes(first);
  const search = positionals.slice(named ? 1 : 0);
  if (search.length === 0) return 'No tools. Check the servers: turnbuckle doctor';
  const nothing = `No tool matches "${showLine(search.join(' '))}".`;
  const meant = named ? undefined : nearestWord(first, names);
  return meant === undefined
    ? `${nothing} List all tools: turnbuckle tools${named ? ` ${shellQuote(first)}` : ''}`
    : `${nothing} Did you mean "turnbuckle tools ${shellQuote(meant)}"?`;
}

/** The first word may be a server; then only that one is connected. The rest are search words. */
async function findTools(context: CommandContext, servers: Servers): Promise<readonly CatalogTool[]> {
  const { positionals } = context;
  const isNative = positionals[0] === 'native' && servers.catalog.listByServer('native').length > 0;
  const server = isNative ? 'native' : servers.serverNames().find((name) => name === positionals[0]);
  if (!isNative) await connectOneOrAll(context, servers, server);
  const search = positionals.slice(server === undefined ? 0 : 1).map((word) => word.toLowerCase());
  const all = server === undefined ? servers.tools() : servers.catalog.listByServer(server);
  return all.filter((tool) => {
    const haystack = `${tool.name} ${tool.title ?? ''} ${tool.description ?? ''}`.toLowerCase();
    return search.every((word) => haystack.includes(word));
  });
}

/** Flags, shown before the description; empty when there are none. */
function warning({ output }: CommandContext, tool: CatalogTool, end: string): string {
  const text = describeFlags(tool);
  return text === '' ? '' : `${output.color.yellow(`⚠ ${text}`)}${end}`;
}

function showSignature(context: CommandContext, tool: CatalogTool): void {
  const text = describeFlags(tool);
  context.output.line(`${text === '' ? '' : `// ⚠ ${text}\n`}${toSignature(tool)}\n`);
}

function showSchema(context: CommandContext, tool: CatalogTool): void {
  const { output } = context;
  output.line(output.color.bold(showLine(tool.displayName, 200)));
  if (tool.flags.length > 0) output.line(warning(context, tool, ''));
  if (tool.description !== undefined) output.line(showText(tool.description));
  output.line(`${showText(JSON.stringify(tool.inputSchema, null, 2))}\n`);
}

/** A daemon has put its estimates into the list. */
const toJson = ({ definition: _definition, ...tool }: CatalogTool, { energy }: Servers): object => ({
  ...tool,
  ...(energy !== undefined && !tool.native && { estimatedEnergyCost: energy.estimate(tool) }),
});
