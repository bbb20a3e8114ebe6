/** From the words of a command line to an exit code. Loads nothing but the table until it knows the command. */
import { parseArgs } from 'node:util';
import { type Command, type CommandContext, GLOBAL_OPTIONS, type OptionSpec } from './command.js';
import { COMMANDS } from './commands.js';
import { helpFor, helpForAll } from './help.js';
import { createOutput, type Output } from './output.js';

export const VERSION = '0.1.0';

const USAGE_EXIT = 2;
const INTERRUPTED_EXIT = 130;

export interface MainOptions {
  readonly words: readonly string[];
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly signal: AbortSignal;
}

export async function main({ words, environment, signal }: MainOptions): Promise<number> {
  const [first, ...rest] = words;
  const output = createOutput({ json: words.includes('--json'), environment });
  if (first === '--version' || first === '-V') return print(output, VERSION);
  if (first === undefined || first === 'help' || first.startsWith('-'))
    return helpOrUsage(first, rest, output);
  const command = findCommand(first);
  if (command === undefined) return usage(output, `There is no command "${first}".`, nearestCommand(first));
  if (rest.includes('--help') || rest.includes('-h')) return print(output, helpFor(command));
  const parsed = parse(command, rest);
  if (typeof parsed === 'string') return usage(output, parsed, `turnbuckle ${command.name} --help`);
  return runCommand(command, { ...parsed, output, environment, signal });
}

function helpOrUsage(first: string | undefined, rest: readonly string[], output: Output): number {
  const named = first === 'help' && rest[0] !== undefined ? findCommand(rest[0]) : undefined;
  if (first !== undefined && !['help', '--help', '-h'].includes(first))
    return usage(output, `"${first}" is not a command.`, 'turnbuckle --help');
  return print(output, named === undefined ? helpForAll(COMMANDS) : helpFor(named));
}

const findCommand = (name: string): Command | undefined =>
  COMMANDS.find((command) => command.name === name || command.aliases?.includes(name) === true);

function nearestCommand(name: string): string {
  const close = COMMANDS.find(
    (command) => command.name.startsWith(name[0] ?? '') && Math.abs(command.name.length - name.length) <= 2,
  );
  return close === undefined
    ? 'turnbuckle --help lists the commands.'
    : `Did you mean "turnbuckle ${close.name}"?`;
}

function parse(command: Command, args: readonly string[]): Pick<CommandContext, 'words' | 'flags'> | string {
  const specs: Record<string, OptionSpec> = { ...GLOBAL_OPTIONS, ...command.options };
  const options = Object.fromEntries(
    Object.entries(specs).map(([name, { type, short, multiple }]) => [
      name,
      { type, ...(short && { short }), ...(multiple && { multiple }) },
    ]),
  );
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      options,
      allowPositionals: true,
      strict: true,
    });
    return { words: positionals, flags: values as CommandContext['flags'] };
  } catch (error) {
    return error instanceof Error ? (error.message.split('. ')[0] ?? error.message) : String(error);
  }
}

async function runCommand(command: Command, context: CommandContext): Promise<number> {
  try {
    const { run } = await command.load();
    return (await run(context)) ?? 0;
  } catch (thrown) {
    if (context.signal.aborted) return INTERRUPTED_EXIT;
    const { reportError } = await import('./report-error.js');
    return reportError(thrown, context.output, { verbose: context.flags.verbose === true });
  }
}

function print(output: Output, text: string): number {
  output.line(text);
  return 0;
}

function usage(output: Output, message: string, hint: string): number {
  if (output.json) output.data({ error: { code: 'USAGE', message, hint } });
  output.note(`${output.color.red('error')} ${message}\n      ${hint}`);
  return USAGE_EXIT;
}
