/** Runs a command line and returns the exit code. Loads only the command table until the command is known. */
import { parseArgs } from 'node:util';
import { type Command, type CommandContext, type Flags, GLOBAL_OPTIONS, type OptionSpec } from './command.js';
import { nearestWord } from './command-line/nearest-word.js';
import { HIDDEN_COMMANDS } from './command-table/daemon-commands.js';
import { COMMANDS } from './commands.js';
import { helpFor, helpForAll } from './help.js';
import { createOutput, type Output } from './terminal/output.js';
import { showMessage } from './terminal/untrusted-text.js';
import { VERSION } from './version.js';

const USAGE_EXIT = 2;
const INTERRUPTED_EXIT = 130;
const COMMAND_NAMES = COMMANDS.flatMap(({ name, aliases = [] }) => [name, ...aliases]);

export interface MainOptions {
  readonly args: readonly string[];
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly signal: AbortSignal;
  /** The command ended in order, by a signal as it is meant to: its code counts, not that of the signal. */
  readonly onCleanExit?: (() => void) | undefined;
}

export async function main({ args, environment, signal, onCleanExit }: MainOptions): Promise<number> {
  const [first, ...rest] = moveCommandFirst(args);
  const own = beforeSeparator(rest);
  const output = createOutput({ json: own.includes('--json'), environment, commands: COMMAND_NAMES });
  if (['--version', '-V', 'version'].includes(first ?? '')) return print(output, VERSION);
  if (first === undefined || first === 'help' || first.startsWith('-'))
    return helpOrUsage(first, rest, output);
  const command = findCommand(first);
  if (command === undefined) return unknownCommand(output, first);
  if (command.deprecatedName === first)
    warnOfDeprecation(output, `The command "${first}"`, `"turnbuckle ${command.name}"`);
  if (own.includes('--help') || own.includes('-h')) return print(output, helpFor(command, output.width));
  const parsed = parseCommandLine(command, rest);
  if (typeof parsed === 'string') return reportUsageError(output, parsed, usageHint(command, parsed));
  const flags = replaceDeprecatedOptions(command, parsed.flags, output);
  const context = { ...parsed, flags, commands: COMMANDS, command, output, environment, signal };
  return runCommand(command, context, onCleanExit);
}

/** What follows `--` belongs to another command. */
function beforeSeparator(words: readonly string[]): readonly string[] {
  const cut = words.indexOf('--');
  return cut === -1 ? words : words.slice(0, cut);
}

/** Moves global options that precede the command behind it. */
function moveCommandFirst(words: readonly string[]): readonly string[] {
  let index = 0;
  for (let word = words[index]; word?.startsWith('-'); word = words[index]) {
    const [name = '', value] = toLongOption(word).slice(2).split('=', 2);
    const spec = Object.hasOwn(GLOBAL_OPTIONS, name) ? GLOBAL_OPTIONS[name] : undefined;
    // Behind others, --help is about all of it too.
    if (name === 'help') return [word, ...words.slice(0, index), ...words.slice(index + 1)];
    if (spec === undefined) return [...words.slice(index), ...words.slice(0, index)];
    index += spec.type === 'string' && value === undefined ? 2 : 1;
  }
  const [command, ...rest] = words.slice(index);
  return command === undefined ? words : [command, ...words.slice(0, index), ...rest];
}

/** `-v` as `--verbose`. */
function toLongOption(word: string): string {
  const found = Object.entries(GLOBAL_OPTIONS).find(
    ([, { short }]) => short !== undefined && word === `-${short}`,
  );
  return found === undefined ? word : `--${found[0]}`;
}

function helpOrUsage(first: string | undefined, rest: readonly string[], output: Output): number {
  if (first !== undefined && !['help', '--help', '-h'].includes(first))
    return reportUsageError(output, `Unknown option "${first}".`, 'List the commands: turnbuckle --help');
  const [topic] = first === 'help' ? rest : [];
  if (topic === undefined || topic.startsWith('-')) return print(output, helpForAll(COMMANDS, output.width));
  const named = findCommand(topic);
  return named === undefined ? unknownCommand(output, topic) : print(output, helpFor(named, output.width));
}

const findCommand = (name: string): Command | undefined =>
  [...COMMANDS, ...HIDDEN_COMMANDS].find(
    (command) =>
      command.name === name || command.deprecatedName === name || command.aliases?.includes(name) === true,
  );

function unknownCommand(output: Output, word: string): number {
  const close = nearestWord(word, COMMAND_NAMES);
  const hint =
    close === undefined ? 'List the commands: turnbuckle --help' : `Did you mean "turnbuckle ${close}"?`;
  return reportUsageError(output, `Unknown command "${word}".`, hint);
}

/** Without `--`, options of a server's command look like ours. */
function usageHint(command: Command, problem: string): string {
  const { name } = command;
  const help = `Show the usage: turnbuckle ${name} --help`;
  const unknown = /^Unknown option '--?([^']+)'/.exec(problem)?.[1];
  if (unknown === undefined) return help;
  const close = nearestWord(unknown, Object.keys({ ...GLOBAL_OPTIONS, ...command.options }));
  if (close !== undefined) return `Did you mean --${close}? ${help}`;
  return name === 'add'
    ? `Put -- before the server's command (turnbuckle add <name> -- <command> [arguments]). ${help}`
    : help;
}

type ParsedArguments = Pick<CommandContext, 'positionals' | 'flags' | 'passthroughIndex'>;

function parseCommandLine(command: Command, args: readonly string[]): ParsedArguments | string {
  const specs: Record<string, OptionSpec> = { ...GLOBAL_OPTIONS, ...command.options };
  const options = Object.fromEntries(
    Object.entries(specs).flatMap(([name, { type, short, multiple, deprecatedName }]) => [
      [name, { type, ...(short && { short }), ...(multiple && { multiple }) }],
      ...(deprecatedName === undefined ? [] : [[deprecatedName, { type, ...(multiple && { multiple }) }]]),
    ]),
  );
  try {
    const { values, positionals, tokens } = parseArgs({
      args: [...args],
      options,
      allowPositionals: true,
      strict: true,
      tokens: true,
    });
    const dashes = tokens.findIndex(({ kind }) => kind === 'option-terminator');
    const before = tokens.slice(0, dashes).filter(({ kind }) => kind === 'positional').length;
    return {
      positionals,
      flags: values as CommandContext['flags'],
      ...(dashes !== -1 && { passthroughIndex: before }),
    };
  } catch (error) {
    const [sentence = ''] = String(error instanceof Error ? error.message : error).split(/\. |\n/);
    return sentence.endsWith('.') ? sentence : `${sentence}.`;
  }
}

/** Moves values that were given under an option's deprecated name to its current one. */
function replaceDeprecatedOptions(command: Command, flags: Flags, output: Output): Flags {
  const replaced = { ...flags };
  for (const [name, { deprecatedName }] of Object.entries(command.options)) {
    if (deprecatedName === undefined || flags[deprecatedName] === undefined) continue;
    const [given, old] = [flags[name], flags[deprecatedName]];
    replaced[name] = Array.isArray(given) && Array.isArray(old) ? [...given, ...old] : (given ?? old);
    delete replaced[deprecatedName];
    warnOfDeprecation(output, `The option --${deprecatedName}`, `--${name}`);
  }
  return replaced;
}

const warnOfDeprecation = (output: Output, old: string, replacement: string): void =>
  output.warn(`${output.color.yellow('warning')} ${old} is deprecated. Use ${replacement} instead.`);

async function runCommand(
  command: Command,
  context: CommandContext,
  onOrderlyEnd: MainOptions['onCleanExit'],
): Promise<number> {
  try {
    const { maxPositionals = Number.POSITIVE_INFINITY } = command;
    if (context.positionals.length > maxPositionals)
      (await import('./command-line/positionals.js')).rejectExtraPositionals(context, maxPositionals);
    const { run } = await command.load();
    const code = (await run(context)) ?? 0;
    if (command.endsBySignal === true) onOrderlyEnd?.();
    return code;
  } catch (thrown) {
    if (context.signal.aborted) return INTERRUPTED_EXIT;
    const { reportError } = await import('./command-line/report-error.js');
    const { agent, config, 'mcp-server': servers, verbose } = context.flags;
    const named = { agent, config, servers };
    return reportError(thrown, context.output, { verbose: verbose === true, named });
  }
}

function print(output: Output, text: string): number {
  output.line(text);
  return 0;
}

function reportUsageError(output: Output, message: string, hint: string): number {
  if (output.json) output.data({ error: { code: 'USAGE', message, hint } });
  output.warn(`${output.color.red('error')} ${showMessage(message)}\n      ${showMessage(hint)}`);
  return USAGE_EXIT;
}
