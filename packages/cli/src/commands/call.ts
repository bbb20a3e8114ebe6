import { readFile } from 'node:fs/promises';
import { text as readStream } from 'node:stream/consumers';
import { type CallOptions, type CatalogTool, type Runtime, TurnbuckleError } from 'turnbuckle';
import type { CommandContext } from '../command.js';
import { findTool } from '../find-tool.js';
import { withRuntime } from '../open.js';
import { showContent } from '../show-content.js';
import { missingArguments, readArguments } from '../tool-arguments.js';
import { showLine, showText } from '../untrusted-text.js';

const TOOL_FAILED_EXIT = 1;

export async function run(context: CommandContext): Promise<number> {
  return withRuntime(context, async ({ runtime }) => {
    const { tool, rest } = await findTool(context, runtime);
    const args = await completeArguments(context, tool, rest);
    const options: CallOptions = {
      signal: context.signal,
      ...timeoutOf(context),
      onProgress: (progress) => tellProgress(context, progress),
    };
    const call = runtime.callTool(tool.server, tool.tool, args, options).catch((error: unknown) => {
      throw withSchemaHint(error, tool);
    });
    const result = await context.output.during(`Calling ${showLine(tool.displayName)}`, call);
    await show(context, tool, result);
    return result.isError === true ? TOOL_FAILED_EXIT : 0;
  });
}

/** Where the arguments are described, for somebody who does not know them. */
function withSchemaHint(error: unknown, { server, tool }: CatalogTool): unknown {
  if (!(error instanceof TurnbuckleError) || error.code !== 'ARGUMENTS_INVALID') return error;
  const { code, message, data, cause } = error;
  const hint = `Nothing was sent. Its arguments: turnbuckle tools ${server} ${tool} --schema`;
  return new TurnbuckleError(code, message, { server, tool, data, cause, hint });
}

async function completeArguments(
  context: CommandContext,
  tool: CatalogTool,
  words: readonly string[],
): Promise<Record<string, unknown>> {
  const args = { ...(await argumentsFile(context)), ...readArguments(words, tool.inputSchema) };
  if (!context.output.interactive) return args;
  const { askText } = await import('../ask.js');
  for (const key of missingArguments(args, tool.inputSchema))
    Object.assign(args, readArguments([`${key}=${await askText(key)}`], tool.inputSchema));
  return args;
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

function timeoutOf({ flags }: CommandContext): { timeoutMs?: number } {
  if (flags.timeout === undefined) return {};
  const seconds = Number(flags.timeout);
  if (!Number.isFinite(seconds) || seconds <= 0)
    throw new TurnbuckleError(
      'ARGUMENTS_INVALID',
      `--timeout "${String(flags.timeout)}" is not a number of seconds.`,
      { hint: 'For example --timeout 30' },
    );
  return { timeoutMs: seconds * 1_000 };
}

function tellProgress(
  { output }: CommandContext,
  {
    progress,
    total,
    message,
  }: { progress: number; total?: number | undefined; message?: string | undefined },
): void {
  if (!output.interactive) return;
  output.note(
    output.color.dim(
      `${total === undefined ? progress : `${Math.round((progress / total) * 100)} %`}${message === undefined ? '' : ` ${showText(message)}`}`,
    ),
  );
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
