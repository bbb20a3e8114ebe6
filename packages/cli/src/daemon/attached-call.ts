/** A call that the daemon makes. Loads little: nothing that connects servers. */
import type { CatalogTool, Progress, Runtime } from 'turnbuckle';
import { TurnbuckleError } from 'turnbuckle';
import {
  type CallableTool,
  completeArguments,
  describeProgress,
  showResult,
  timeoutOf,
  withCallHints,
} from '../call-request.js';
import type { CommandContext } from '../command.js';
import { showLine } from '../untrusted-text.js';
import { type DaemonClient, type Refusal, refusalOf } from './daemon-client.js';
import { NoAnswer } from './exchange.js';

interface Answer extends Refusal {
  readonly success: boolean;
  readonly result?: Awaited<ReturnType<Runtime['call']>>;
}

/** As it is without a daemon: so long a server may say nothing. */
const TIMEOUT_MS = 60_000;
/** Most calls have ended by then: only the others look whether they wait for a person. */
const APPROVAL_MS = 400;

/** Resolves with the exit code; with undefined when this call has to be made over a connection of its own. */
export async function callAttached(
  context: CommandContext,
  client: DaemonClient,
): Promise<number | undefined> {
  const { tool, rest, unknown } =
    (await findAtOnce(context, client)) ?? (await findThoroughly(context, client));
  // What servers ask a person is asked in that person's terminal, not in the daemon.
  if (context.output.interactive && (await mayAsk(client, tool.server))) return undefined;
  const args = await completeArguments(context, tool, rest).catch((error: unknown) => {
    throw unknown ?? error;
  });
  const over = new AbortController();
  const timer = setTimeout(
    () => void answerApprovals(context, { client, tool, signal: over.signal }),
    APPROVAL_MS,
  );
  const { timeoutMs } = timeoutOf(context, false);
  const call = post(context, client, {
    server: tool.server,
    tool_name: tool.tool,
    arguments: args,
    timeout_ms: timeoutMs ?? TIMEOUT_MS,
    // On a terminal the person who could answer is asked here, and can say no.
    ...(timeoutMs !== undefined && !context.output.interactive && { approval_wait_ms: timeoutMs }),
  }).finally(() => {
    clearTimeout(timer);
    over.abort();
  });
  const answer = await context.output.during(
    `Calling ${showLine(tool.displayName)}`,
    call.catch((error: unknown) => {
      if (unknown !== undefined && codeOf(error) === unknown.code) throw unknown;
      throw withCallHints(error, tool, context);
    }),
  );
  return showResult(context, tool, answer);
}

interface FoundTool {
  readonly tool: CallableTool;
  readonly rest: readonly string[];
  /** It is in no list. Whether it is there for this token is the daemon's to say, in its words and its log. */
  readonly unknown?: TurnbuckleError;
}

/** By one question; undefined when that does not find it. */
async function findAtOnce({ words }: CommandContext, client: DaemonClient): Promise<FoundTool | undefined> {
  const [server, name] = words;
  if (server === undefined || name === undefined || name.includes('=')) return undefined;
  // What cannot be looked for as one word is looked for in the whole list.
  if (!/^\S{1,256}$/.test(name)) return undefined;
  const { tools } = await client.get<{ tools: readonly ListedTool[] }>(
    `/tools?search=${encodeURIComponent(name)}`,
  );
  const found = tools.find((one) => one.server === server && one.tool === name);
  if (found === undefined) return undefined;
  const tool = { server, tool: name, displayName: `${server}:${name}`, inputSchema: found.input_schema };
  return { tool, rest: words.slice(2) };
}

interface ListedTool {
  readonly server: string;
  readonly tool: string;
  readonly input_schema: CatalogTool['inputSchema'];
}

/** As it is found without a daemon: servers that wait for their first use are brought up, errors say what is near. */
async function findThoroughly(context: CommandContext, client: DaemonClient): Promise<FoundTool> {
  const [{ AttachedServers }, { findTool }] = await Promise.all([
    import('./attached-servers.js'),
    import('../find-tool.js'),
  ]);
  try {
    return await findTool(context, await AttachedServers.open(client, context.signal));
  } catch (error) {
    const [server, name] = context.words;
    if (!(error instanceof TurnbuckleError) || !UNKNOWN.has(error.code)) throw error;
    if (server === undefined || name === undefined || name.includes('=')) throw error;
    const tool = { server, tool: name, displayName: `${server}:${name}`, inputSchema: ANYTHING };
    return { tool, rest: context.words.slice(2), unknown: error };
  }
}

const UNKNOWN: ReadonlySet<string> = new Set(['SERVER_UNKNOWN', 'TOOL_UNKNOWN']);
const ANYTHING: CallableTool['inputSchema'] = { type: 'object' };
const codeOf = (error: unknown): string | undefined =>
  error instanceof TurnbuckleError ? error.code : undefined;

async function mayAsk(client: DaemonClient, server: string): Promise<boolean> {
  const path = `/api/servers/${encodeURIComponent(server)}`;
  const { config } = await client.get<{ config?: { mayAsk?: unknown } }>(path).catch((error: unknown) => {
    // A token for calls only: nobody can be asked then.
    if (error instanceof TurnbuckleError) return { config: undefined };
    throw error;
  });
  return Array.isArray(config?.mayAsk) && config.mayAsk.includes('elicitation');
}

async function post(
  { output, signal }: CommandContext,
  client: DaemonClient,
  body: object,
): Promise<NonNullable<Answer['result']>> {
  try {
    const answer = output.interactive
      ? await client.stream<Answer>('/mcp/call', body, {
          signal,
          onEvent: (name, data) => {
            if (name === 'progress') output.progress(describeProgress(data as Progress));
          },
        })
      : await client.post<Answer>('/mcp/call', body, { signal });
    if (answer?.result === undefined) throw refusalOf(answer ?? {});
    return answer.result;
  } catch (error) {
    if (!(error instanceof NoAnswer && error.mayHaveActed)) throw error;
    throw new TurnbuckleError(
      'CALL_OUTCOME_UNKNOWN',
      `The daemon went away during the call: ${error.message}.`,
      {
        cause: error,
        hint: 'It may have been made or not. turnbuckle serve status says how the daemon is.',
      },
    );
  }
}

async function answerApprovals(
  context: CommandContext,
  asked: { readonly client: DaemonClient; readonly tool: CallableTool; readonly signal: AbortSignal },
): Promise<void> {
  const { answerForCall } = await import('./call-approvals.js');
  await answerForCall(context, asked);
}
