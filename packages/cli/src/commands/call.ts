import { readFile } from 'node:fs/promises';
import { text as readStream } from 'node:stream/consumers';
import {
  type CallOptions,
  type CatalogTool,
  type ConfiguredRuntime,
  type Runtime,
  type ServerRequestAnswers,
  TurnbuckleError,
} from 'turnbuckle';
import { callerOf } from '../caller-of.js';
import type { CommandContext } from '../command.js';
import { findTool } from '../find-tool.js';
import { withRuntime } from '../open.js';
import { shellWord } from '../shell-word.js';
import { showContent } from '../show-content.js';
import { missingArguments, readArguments } from '../tool-arguments.js';
import { showLine, showText } from '../untrusted-text.js';

const TOOL_FAILED_EXIT = 1;

export async function run(context: CommandContext): Promise<number> {
  const work = async ({ runtime }: ConfiguredRuntime): Promise<number> => {
    const { tool, rest } = await findTool(context, runtime);
    const args = await completeArguments(context, tool, rest);
    const options: CallOptions = {
      signal: context.signal,
      caller: callerOf(context, 'as'),
      ...timeoutOf(context, asksPeople(context, runtime, tool.server)),
      onProgress: (progress) => context.output.progress(describeProgress(progress)),
    };
    const call = runtime.callTool(tool.server, tool.tool, args, options).catch((error: unknown) => {
      throw withPersonHint(withSchemaHint(error, tool), context);
    });
    const result = await context.output.during(`Calling ${showLine(tool.displayName)}`, call);
    await show(context, tool, result);
    return result.isError === true ? TOOL_FAILED_EXIT : 0;
  };
  return withRuntime(context, work, { answers: context.output.interactive ? answersOf(context) : {} });
}

/** What a server asks is put to the person; what that takes is loaded when the first question comes. */
function answersOf(context: CommandContext): ServerRequestAnswers {
  let answering: Promise<NonNullable<ServerRequestAnswers['elicitation']>> | undefined;
  return {
    elicitation: async (request) => {
      answering ??= import('../answer-in-terminal.js').then(({ createTerminalAnswers }) =>
        createTerminalAnswers(context),
      );
      return (await answering)(request);
    },
  };
}

/** A call that may wait for a person is not cut off while that person reads. */
function asksPeople({ output }: CommandContext, runtime: Runtime, server: string): boolean {
  if (!output.interactive) return false;
  const allowed = runtime.serverStatus(server).config?.mayAsk;
  return Array.isArray(allowed) && allowed.includes('elicitation');
}

/** Nobody is asked in a pipe: where somebody would be. */
function withPersonHint(error: unknown, { output }: CommandContext): unknown {
  if (!(error instanceof TurnbuckleError) || output.interactive) return error;
  if (error.code !== 'INPUT_REQUIRED' && error.code !== 'APPROVAL_NEEDED') return error;
  if (error.hint?.includes('mayAsk') === true) return error;
  const { code, message, server, tool, data, cause } = error;
  const rule = code === 'APPROVAL_NEEDED' ? ' Or allow it by a rule: turnbuckle rules' : '';
  const hint = `Run it on a terminal, without --json: it asks a person.${rule}`;
  return new TurnbuckleError(code, message, { server, tool, data, cause, hint });
}

/** Where the arguments are described, for somebody who does not know them. */
function withSchemaHint(error: unknown, found: CatalogTool): unknown {
  if (!(error instanceof TurnbuckleError) || error.code !== 'ARGUMENTS_INVALID') return error;
  const { code, message, data, cause } = error;
  const { server, tool } = found;
  return new TurnbuckleError(code, message, { server, tool, data, cause, hint: schemaHint(found) });
}

const schemaHint = ({ server, tool }: CatalogTool): string =>
  `Nothing was sent. Its arguments: turnbuckle tools ${shellWord(server)} ${shellWord(tool)} --schema`;

async function completeArguments(
  context: CommandContext,
  tool: CatalogTool,
  words: readonly string[],
): Promise<Record<string, unknown>> {
  const args = { ...(await argumentsFile(context)), ...readArguments(words, tool.inputSchema) };
  const missing = missingArguments(args, tool.inputSchema);
  if (missing.length === 0) return args;
  if (context.output.interactive) {
    const { askArguments } = await import('../ask-arguments.js');
    return { ...args, ...(await askArguments(missing, tool.inputSchema)) };
  }
  const names = missing.map((key) => showLine(key, 60)).join(', ');
  throw new TurnbuckleError('ARGUMENTS_INVALID', `The tool "${tool.tool}" needs ${names}.`, {
    server: tool.server,
    tool: tool.tool,
    hint: schemaHint(tool),
  });
}

async function argumentsFile({ flags }: CommandContext): Promise<Record<string, unknown>> {
  const file = flags['args-file'];
  if (typeof file !== 'string') return {};
  const text =
    file === '-'
      ? await readStream(process.stdin)
      : await readFile(file, 'utf8').catch((cause: unknown) => {
          throw new TurnbuckleError('ARGUMENTS_INVALID', `The file of arguments ${file} cannot be read.`, {
            cause,
            hint: 'Name a file with a JSON object, or - for stdin.',
          });
        });
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value))
      return value as Record<string, unknown>;
  } catch {
    // told below
  }
  throw new TurnbuckleError(
    'ARGUMENTS_INVALID',
    `${file === '-' ? 'What came from stdin' : file} is not a JSON object.`,
    {
      hint: 'Give an object with the arguments by name: {"a": 1}',
    },
  );
}

const PERSON_MS = 600_000;

function timeoutOf({ flags }: CommandContext, forPerson: boolean): { timeoutMs?: number } {
  if (flags.timeout === undefined) return forPerson ? { timeoutMs: PERSON_MS } : {};
  const seconds = Number(flags.timeout);
  if (!Number.isFinite(seconds) || seconds <= 0)
    throw new TurnbuckleError(
      'ARGUMENTS_INVALID',
      `--timeout "${String(flags.timeout)}" is not a number of seconds.`,
      { hint: 'For example --timeout 30' },
    );
  return { timeoutMs: seconds * 1_000 };
}

interface Progress {
  readonly progress: number;
  readonly total?: number | undefined;
  readonly message?: string | undefined;
}

function describeProgress({ progress, total, message = '' }: Progress): string {
  const share = total === undefined || !(total > 0) ? undefined : Math.round((progress / total) * 100);
  return `${share === undefined ? progress : `${share} %`} ${showLine(message)}`.trimEnd();
}

async function show(
  { output, flags }: CommandContext,
  tool: CatalogTool,
  result: Awaited<ReturnType<Runtime['call']>>,
): Promise<void> {
  if (output.json) return output.data(result);
  if (result.isError === true) output.note(output.color.red('The tool reported an error:'));
  const { structuredContent, content = [] } = result;
  // Servers repeat structured content as text; the text is what was meant to be read.
  if (content.length === 0 && structuredContent !== undefined)
    return output.line(showText(JSON.stringify(structuredContent, null, 2)));
  await showContent(content, {
    output,
    directory: typeof flags.output === 'string' ? flags.output : '.',
    stem: `${tool.server}-${tool.tool}`,
  });
}
