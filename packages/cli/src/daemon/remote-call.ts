/** A call that the daemon makes. Loads little: nothing that connects to servers. */
import type { CallOptions, CatalogTool } from 'turnbuckle';
import { TurnbuckleError } from 'turnbuckle';
import type { CallableTool } from '../calls/call-request.js';
import type { CallTarget, NamedTool } from '../calls/make-call.js';
import type { CommandContext } from '../command.js';
import type { PendingCall } from './call-approvals.js';
import type { DaemonClient } from './daemon-client.js';
import { RemoteRuntime } from './remote-runtime.js';

/** Most calls have ended by then: only the others check whether they wait for a person. */
const APPROVAL_CHECK_DELAY_MS = 400;

export function remoteTarget(context: CommandContext, client: DaemonClient): CallTarget {
  const runtime = new RemoteRuntime(client, context.signal);
  return {
    // What servers ask a person is asked in that person's terminal, not in the daemon.
    canElicit: false,
    findTool: async () => (await findByExactName(context, client)) ?? findInFullList(context, runtime),
    mayElicit: (server) => mayElicit(client, server),
    // biome-ignore lint/complexity/useMaxParams: the same method as that of the runtime.
    callTool: async (server, tool, args, options) => {
      const settled = new AbortController();
      const called = { client, tool: { server, tool }, signal: settled.signal };
      const timer = setTimeout(() => void promptForApprovals(context, called), APPROVAL_CHECK_DELAY_MS);
      try {
        return await runtime.callTool(server, tool, args, forOutput(context, options));
      } finally {
        clearTimeout(timer);
        settled.abort();
      }
    },
  };
}

/** On a terminal the person is asked there and sees progress; elsewhere the call waits no longer than its timeout. */
function forOutput({ output }: CommandContext, { onProgress, ...options }: CallOptions = {}): CallOptions {
  return output.interactive ? { ...options, onProgress } : { ...options, approvalWaitMs: options.timeoutMs };
}

/** By one question; undefined when that does not find it. */
async function findByExactName(
  { positionals }: CommandContext,
  client: DaemonClient,
): Promise<NamedTool | undefined> {
  const [server, name] = positionals;
  if (server === undefined || name === undefined || name.includes('=')) return undefined;
  // What cannot be looked for as one word is looked for in the whole list.
  if (!/^\S{1,256}$/.test(name)) return undefined;
  const { tools } = await client.get<{ tools: readonly ListedTool[] }>(
    `/tools?search=${encodeURIComponent(name)}`,
  );
  const found = tools.find((one) => one.server === server && one.tool === name);
  if (found === undefined) return undefined;
  const tool = { server, tool: name, displayName: `${server}:${name}`, inputSchema: found.input_schema };
  return { tool, rest: positionals.slice(2) };
}

interface ListedTool {
  readonly server: string;
  readonly tool: string;
  readonly input_schema: CatalogTool['inputSchema'];
}

/** As it is found without a daemon: servers that wait for their first use are brought up, errors say what is near. */
async function findInFullList(context: CommandContext, runtime: RemoteRuntime): Promise<NamedTool> {
  const { findTool } = await import('../calls/find-tool.js');
  try {
    return await findTool(context, await runtime.load());
  } catch (error) {
    const [server, name] = context.positionals;
    if (!(error instanceof TurnbuckleError) || !UNKNOWN_CODES.has(error.code)) throw error;
    if (server === undefined || name === undefined || name.includes('=')) throw error;
    const tool = { server, tool: name, displayName: `${server}:${name}`, inputSchema: ANY_OBJECT_SCHEMA };
    const rest = context.positionals.slice(2);
    // A bridge without a daemon has no list of servers, and connects the server for the call.
    return error.code === 'PATH_UNKNOWN' ? { tool, rest } : { tool, rest, unknownError: error };
  }
}

const UNKNOWN_CODES: ReadonlySet<string> = new Set(['SERVER_UNKNOWN', 'TOOL_UNKNOWN', 'PATH_UNKNOWN']);
const ANY_OBJECT_SCHEMA: CallableTool['inputSchema'] = { type: 'object' };

async function mayElicit(client: DaemonClient, server: string): Promise<boolean> {
  const path = `/api/servers/${encodeURIComponent(server)}`;
  const { config } = await client.get<{ config?: { mayAsk?: unknown } }>(path).catch((error: unknown) => {
    // The token has no read access, so approvals cannot be listed.
    if (error instanceof TurnbuckleError) return { config: undefined };
    throw error;
  });
  return Array.isArray(config?.mayAsk) && config.mayAsk.includes('elicitation');
}

async function promptForApprovals(context: CommandContext, called: PendingCall): Promise<void> {
  const { promptForCallApproval } = await import('./call-approvals.js');
  await promptForCallApproval(context, called);
}
