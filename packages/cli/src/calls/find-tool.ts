/** Finds the tool named on the command line. Connects only its server, where the name tells which it is. */
import { type CatalogTool, TurnbuckleError } from 'turnbuckle';
import { shellQuote } from 'turnbuckle/light';
import type { CommandContext } from '../command.js';
import { nearestWord } from '../command-line/nearest-word.js';
import { requirePositional } from '../command-line/positionals.js';
import { connectOneOrAll } from '../session/connect-servers.js';
import type { ToolLookup } from '../session/servers.js';
import { unknownServer } from '../session/unknown-server.js';

interface FoundTool {
  readonly tool: CatalogTool;
  /** The words behind its name. */
  readonly rest: readonly string[];
}

/** By server and tool, or by the one name an agent sees; SERVER_UNKNOWN or TOOL_UNKNOWN with what is near. */
export async function findTool(context: CommandContext, runtime: ToolLookup): Promise<FoundTool> {
  const { positionals } = context;
  const first = requirePositional(context, 0, 'server');
  const servers = runtime.serverNames();
  const isNative = first === 'native' && runtime.catalog.listByServer(first).length > 0;
  if (servers.includes(first) || isNative) {
    const name = requirePositional(context, 1, 'tool');
    // Native tools list what is connected.
    await connectOneOrAll(context, runtime, isNative ? undefined : first);
    const tool = runtime.catalog.find(first, name);
    if (tool === undefined) throw unknownTool(name, runtime, first);
    return { tool, rest: positionals.slice(2) };
  }
  const owners = ownersOf(first, servers);
  // A server and a tool were meant: no reason to start every server because of a misspelt name.
  const second = positionals[1];
  const isServer = second !== undefined && !second.includes('=');
  if (owners.length === 0 && (isServer || servers.length === 0)) throw unknownServer(first, servers);
  return {
    tool: await findByFullName(context, runtime, { name: first, owners }),
    rest: positionals.slice(1),
  };
}

/** The servers whose name is part of the tool name, longest first. */
function ownersOf(name: string, servers: readonly string[]): string[] {
  return servers
    .filter((server) => ['mcp__', 'mcp_', ''].some((prefix) => name.startsWith(`${prefix}${server}_`)))
    .sort((left, right) => right.length - left.length);
}

async function findByFullName(
  context: CommandContext,
  runtime: ToolLookup,
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

function unknownTool(name: string, runtime: ToolLookup, server?: string): TurnbuckleError {
  const names =
    server === undefined
      ? runtime.tools().map((tool) => tool.name)
      : runtime.catalog.listByServer(server).map(({ tool }) => tool);
  const close = nearestWord(name, names);
  const at = server === undefined ? '' : ` on server "${server}"`;
  const all = `List the tools: turnbuckle tools${server === undefined ? '' : ` ${shellQuote(server)}`}`;
  const owner = server === undefined ? runtime.tools().find(({ tool }) => tool === name)?.server : undefined;
  const meant =
    owner !== undefined
      ? `Server "${owner}" has a tool with this name. To call it: turnbuckle call ${shellQuote(owner)} ${shellQuote(name)}`
      : close !== undefined
        ? `Did you mean "${close}"? `
        : '';
  return new TurnbuckleError('TOOL_UNKNOWN', `There is no tool "${name}"${at}.`, {
    server,
    tool: name,
    hint: owner === undefined ? `${meant}${all}` : meant,
  });
}
