/** The tool that a command line names. Connects the server it needs and, as far as it can be told, no other. */
import { type CatalogTool, TurnbuckleError } from 'turnbuckle';
import type { CommandContext } from './command.js';
import { connectOneOrAll } from './connect-servers.js';
import { nearestWord } from './nearest-word.js';
import type { ToolShelf } from './servers.js';
import { shellWord } from './shell-word.js';
import { unknownServer } from './unknown-server.js';
import { needWord } from './words.js';

interface FoundTool {
  readonly tool: CatalogTool;
  /** The words behind its name. */
  readonly rest: readonly string[];
}

/** By server and tool, or by the one name an agent sees; SERVER_UNKNOWN or TOOL_UNKNOWN with what is near. */
export async function findTool(context: CommandContext, runtime: ToolShelf): Promise<FoundTool> {
  const { words } = context;
  const first = needWord(context, 0, 'server');
  const servers = runtime.serverNames();
  if (servers.includes(first)) {
    const name = needWord(context, 1, 'tool');
    await connectOneOrAll(context, runtime, first);
    const tool = runtime.catalog.find(first, name);
    if (tool === undefined) throw unknownTool(name, runtime, first);
    return { tool, rest: words.slice(2) };
  }
  const owners = ownersOf(first, servers);
  // A server and a tool were meant: no reason to start every server because of a misspelt name.
  const second = words[1];
  const isServer = second !== undefined && !second.includes('=');
  if (owners.length === 0 && (isServer || servers.length === 0)) throw unknownServer(first, servers);
  return { tool: await findByFullName(context, runtime, { name: first, owners }), rest: words.slice(1) };
}

/** The servers whose name stands in the tool's, the longest first. */
function ownersOf(name: string, servers: readonly string[]): string[] {
  return servers
    .filter((server) => ['mcp__', 'mcp_', ''].some((prefix) => name.startsWith(`${prefix}${server}_`)))
    .sort((left, right) => right.length - left.length);
}

async function findByFullName(
  context: CommandContext,
  runtime: ToolShelf,
  { name, owners }: { name: string; owners: readonly string[] },
): Promise<CatalogTool> {
  let failure: unknown;
  for (const owner of owners) {
    await connectOneOrAll(context, runtime, owner).catch((error: unknown) => {
      failure ??= error;
    });
    const tool = runtime.catalog.get(name);
    if (tool !== undefined) return tool;
  }
  if (failure !== undefined) throw failure;
  if (owners.length === 0) await connectOneOrAll(context, runtime, undefined);
  const tool = runtime.catalog.get(name);
  if (tool !== undefined) return tool;
  throw unknownTool(name, runtime);
}

function unknownTool(name: string, runtime: ToolShelf, server?: string): TurnbuckleError {
  const names =
    server === undefined
      ? runtime.tools().map((tool) => tool.name)
      : runtime.catalog.listByServer(server).map(({ tool }) => tool);
  const close = nearestWord(name, names);
  const at = server === undefined ? '' : ` at server "${server}"`;
  const all = `turnbuckle tools${server === undefined ? '' : ` ${shellWord(server)}`} lists what there is.`;
  const owner = server === undefined ? runtime.tools().find(({ tool }) => tool === name)?.server : undefined;
  const meant =
    owner !== undefined
      ? `Its server is missing: turnbuckle call ${shellWord(owner)} ${shellWord(name)}. `
      : close !== undefined
        ? `Did you mean "${close}"? `
        : '';
  return new TurnbuckleError('TOOL_UNKNOWN', `There is no tool "${name}"${at}.`, {
    server,
    tool: name,
    hint: `${meant}${all}`,
  });
}
