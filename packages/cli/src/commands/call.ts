import { readFile } from 'node:fs/promises';
import { text as readStream } from 'node:stream/consumers';
import { type CallOptions, type CatalogTool, type Runtime, TurnbuckleError } from 'turnbuckle';
import type { CommandContext } from '../command.js';
import { withRuntime } from '../open.js';
import { showContent } from '../show-content.js';
import { missingArguments, readArguments } from '../tool-arguments.js';
import { showText } from '../untrusted-text.js';
import { needWord } from '../words.js';

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
    const call = runtime.callTool(tool.server, tool.tool, args, options);
    const result = await context.output.during(`Calling ${tool.displayName}`, call);
    await show(context, tool, result);
    return result.isError === true ? TOOL_FAILED_EXIT : 0;
  });
}

/** By server and tool, or by the one name an agent sees. Connects that server and no other. */
async function findTool(
  context: CommandContext,
  runtime: Runtime,
): Promise<{ tool: CatalogTool; rest: readonly string[] }> {
  const { words, output } = context;
  const first = needWord(context, 0, 'server');
  const named = runtime.status().some(({ name }) => name === first);
  const [server, name, rest] = named
    ? [first, needWord(context, 1, 'tool'), words.slice(2)]
    : [undefined, first, words.slice(1)];
  if (server === undefined) await output.during('Connecting', connectFor(runtime, name));
  else await output.during(`Connecting ${server}`, runtime.connect(server));
  const tool = server === undefined ? runtime.catalog.get(name) : runtime.catalog.find(server, name);
  if (tool !== undefined) return { tool, rest };
  // The runtime knows best how to say that it is not there, and what is near.
  await runtime.call({ tool: name, ...(server !== undefined && { server }) });
  throw new TurnbuckleError('TOOL_UNKNOWN', `There is no tool "${name}".`);
}

/** The server whose name stands in the tool's; all of them when it cannot be told. */
async function connectFor(runtime: Runtime, name: string): Promise<void> {
  const owner = runtime
    .status()
    .find(
      (server) =>
        name.includes(`__${server.name}__`) ||
        name.startsWith(`${server.name}_`) ||
        name.startsWith(`mcp_${server.name}_`),
    );
  if (owner === undefined) await runtime.connectAll();
  else await runtime.connect(owner.name);
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

function timeoutOf({ flags }: CommandContext): { timeoutMs?: number; maxTotalMs?: number } {
  if (flags.timeout === undefined) return {};
  const seconds = Number(flags.timeout);
  if (!Number.isFinite(seconds) || seconds <= 0)
    throw new TurnbuckleError(
      'ARGUMENTS_INVALID',
      `--timeout "${String(flags.timeout)}" is not a number of seconds.`,
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
