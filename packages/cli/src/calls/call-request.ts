/** What a call takes, whether it is made here or by the daemon: its arguments, its time, its hints, its result. */
import type { CallOptions, CatalogTool, Progress, Runtime } from 'turnbuckle';
import { TurnbuckleError } from 'turnbuckle';
import { copyRawNumbers } from 'turnbuckle/host';
import { shellQuote } from 'turnbuckle/light';
import type { CommandContext } from '../command.js';
import { showContent } from '../terminal/show-content.js';
import { showLine, showText } from '../terminal/untrusted-text.js';
import { missingArguments, parseArguments, unknownArguments } from './tool-arguments.js';

/** What has to be known of a tool to call it. */
export type CallableTool = Pick<CatalogTool, 'server' | 'tool' | 'displayName' | 'inputSchema'>;

type Result = Awaited<ReturnType<Runtime['call']>>;

const TOOL_FAILED_EXIT = 1;
const INTERACTIVE_TIMEOUT_MS = 600_000;

/** Those of the file and of the words; required ones that are missing are asked for on a terminal. */
export async function completeArguments(
  context: CommandContext,
  tool: CallableTool,
  words: readonly string[],
): Promise<Record<string, unknown>> {
  const [ofFile, typed] = [await argumentsFile(context), parseArguments(words, tool.inputSchema)];
  const args = copyRawNumbers(words.length === 0 ? ofFile : typed, { ...ofFile, ...typed });
  const missing = missingArguments(args, tool.inputSchema);
  if (missing.length === 0) return args;
  if (context.output.interactive) {
    const { askArguments } = await import('./ask-arguments.js');
    return { ...args, ...(await askArguments(missing, tool.inputSchema)) };
  }
  const list = (keys: readonly string[]): string => keys.map((key) => showLine(key, 60)).join(', ');
  const unknown = unknownArguments(typed, tool.inputSchema);
  const also = unknown.length === 0 ? '' : ` It has no argument ${list(unknown)}.`;
  throw new TurnbuckleError('ARGUMENTS_INVALID', `Tool "${tool.tool}" requires ${list(missing)}.${also}`, {
    server: tool.server,
    tool: tool.tool,
    hint: schemaHint(tool),
  });
}

async function argumentsFile({ flags }: CommandContext): Promise<Record<string, unknown>> {
  const file = flags['args-file'];
  if (typeof file !== 'string') return {};
  const { readArgumentsFile } = await import('./arguments-file.js');
  return readArgumentsFile(file);
}

/** More than a day of silence is for ever. */
const MAX_TIMEOUT_MS = 24 * 3_600_000;

/** What --timeout says; longer where a person may have to read something meanwhile. */
export function timeoutOf({ flags }: CommandContext, forPerson: boolean): Pick<CallOptions, 'timeoutMs'> {
  if (flags.timeout === undefined) return forPerson ? { timeoutMs: INTERACTIVE_TIMEOUT_MS } : {};
  const seconds = Number(flags.timeout);
  if (!Number.isFinite(seconds) || seconds <= 0)
    throw new TurnbuckleError(
      'ARGUMENTS_INVALID',
      `Invalid --timeout "${String(flags.timeout)}": expected a number of seconds.`,
      { hint: 'For example --timeout 30' },
    );
  return { timeoutMs: Math.min(Math.ceil(seconds * 1_000), MAX_TIMEOUT_MS) };
}

export function describeProgress({ progress, total, message = '' }: Progress): string {
  const share = total === undefined || !(total > 0) ? undefined : Math.round((progress / total) * 100);
  return `${share === undefined ? progress : `${share} %`} ${showLine(message)}`.trimEnd();
}

/** The error with what to do next on a command line. */
export function withCallHints(error: unknown, tool: CallableTool, context: CommandContext): unknown {
  return withTimeoutHint(withInteractiveHint(withSchemaHint(error, tool), context), context);
}

function withTimeoutHint(error: unknown, { flags }: CommandContext): unknown {
  if (!(error instanceof TurnbuckleError) || error.code !== 'CALL_TIMEOUT') return error;
  const { code, message, server, tool, data, cause } = error;
  const limit =
    flags.timeout === undefined ? 'use --timeout, or increase callTimeoutMs' : 'increase --timeout';
  const hint = `If the call needs more time, ${limit} or maxCallMs for this server.`;
  return new TurnbuckleError(code, message, { server, tool, data, cause, hint });
}

/** Nobody is asked in a pipe: where somebody would be. */
function withInteractiveHint(error: unknown, { output }: CommandContext): unknown {
  if (!(error instanceof TurnbuckleError) || output.interactive) return error;
  if (error.code !== 'INPUT_REQUIRED' && error.code !== 'APPROVAL_NEEDED') return error;
  if (error.hint?.includes('mayAsk') === true) return error;
  const { code, message, server, tool, data, cause } = error;
  const rule =
    code === 'APPROVAL_NEEDED'
      ? ` Or add a rule that allows the call: turnbuckle rules${askingRule(data)}`
      : '';
  const hint = `Run the command in a terminal without --json to be prompted.${rule}`;
  return new TurnbuckleError(code, message, { server, tool, data, cause, hint });
}

/** Where the rule stands that asks for the approval: it may be one that was mistyped. */
function askingRule(data: TurnbuckleError['data']): string {
  const { file, line } = Object(data?.rule);
  return typeof file === 'string'
    ? `. The rule that requires approval is at ${file}:${String(line ?? 1)}`
    : '';
}

/** Where the arguments are described, for somebody who does not know them. */
function withSchemaHint(error: unknown, found: CallableTool): unknown {
  if (!(error instanceof TurnbuckleError) || error.code !== 'ARGUMENTS_INVALID') return error;
  const { code, message, data, cause } = error;
  const { server, tool } = found;
  return new TurnbuckleError(code, message, { server, tool, data, cause, hint: schemaHint(found) });
}

const schemaHint = ({ server, tool }: CallableTool): string =>
  `Nothing was sent. Show the tool's arguments: turnbuckle tools ${shellQuote(server)} ${shellQuote(tool)} --schema`;

/** Shows what came of it; answers the exit code. */
export async function showResult(
  { output, flags }: CommandContext,
  { server, tool }: CallableTool,
  result: Result,
): Promise<number> {
  const code = result.isError === true ? TOOL_FAILED_EXIT : 0;
  if (output.json) {
    output.data(result);
    return code;
  }
  if (code !== 0) output.note(output.color.red('The tool reported an error:'));
  const { structuredContent, content = [] } = result;
  // Servers repeat structured content as text; the text is what was meant to be read.
  if (content.length === 0 && structuredContent !== undefined)
    output.line(showText(JSON.stringify(structuredContent, null, 2)));
  else
    await showContent(content, {
      output,
      directory: typeof flags.output === 'string' ? flags.output : '.',
      stem: `${server}-${tool}`,
    });
  return code;
}
