/** From the words of a command line to an exit code. Loads nothing but the table until it knows the command. */
import { parseArgs } from 'node:util';
import { type Command, type CommandContext, GLOBAL_OPTIONS, type OptionSpec } from './command.js';
import { COMMANDS } from './commands.js';
import { HIDDEN_COMMANDS } from './daemon-commands.js';
import { helpFor, helpForAll } from './help.js';
import { nearestWord } from './nearest-word.js';
import { createOutput, type Output } from './output.js';
import { showMessage } from './untrusted-text.js';
import { VERSION } from './version.js';

const USAGE_EXIT = 2;
const INTERRUPTED_EXIT = 130;
const NAMES = COMMANDS.flatMap(({ name, aliases = [] }) => [name, ...aliases]);

export interface MainOptions {
  readonly words: readonly string[];
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly signal: AbortSignal;
  /** The command ended in order, by a signal as it is meant to: its code counts, not that of the signal. */
  readonly onOrderlyEnd?: (() => void) | undefined;
}

export async function main({ words, environment, signal, onOrderlyEnd }: MainOptions): Promise<number> {
  const [first, ...rest] = commandFirst(words);
  const own = beforeDashes(rest);
  const output = createOutput({ json: own.includes('--json'), environment, commands: NAMES });
  if (['--version', '-V', 'version'].includes(first ?? '')) return print(output, VERSION);
  if (first === undefined || first === 'help' || first.startsWith('-'))
    return helpOrUsage(first, rest, output);
  const command = findCommand(first);
  if (command === undefined) return unknownCommand(output, first);
  if (own.includes('--help') || own.includes('-h')) return print(output, helpFor(command, output.width));
  const parsed = parse(command, rest);
  if (typeof parsed === 'string') return usage(output, parsed, nextStep(command, parsed));
  const context = { ...parsed, commands: COMMANDS, command, output, environment, signal };
  return runCommand(command, context, onOrderlyEnd);
}

/** What follows `--` belongs to another command. */
function beforeDashes(words: readonly string[]): readonly string[] {
  const cut = words.indexOf('--');
  return cut === -1 ? words : words.slice(0, cut);
}

/** Options of every command may stand before it too: they go behind it. */
function commandFirst(words: readonly string[]): readonly string[] {
  let index = 0;
  for (let word = words[index]; word?.startsWith('-'); word = words[index]) {
    const [name = '', value] = longName(word).slice(2).split('=', 2);
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
function longName(word: string): string {
  const found = Object.entries(GLOBAL_OPTIONS).find(
    ([, { short }]) => short !== undefined && word === `-${short}`,
  );
  return found === undefined ? word : `--${found[0]}`;
}

function helpOrUsage(first: string | undefined, rest: readonly string[], output: Output): number {
  if (first !== undefined && !['help', '--help', '-h'].includes(first))
    return usage(output, `"${first}" is not a command.`, 'turnbuckle --help lists the commands.');
  const [topic] = first === 'help' ? rest : [];
  if (topic === undefined || topic.startsWith('-')) return print(output, helpForAll(COMMANDS, output.width));
  const named = findCommand(topic);
  return named === undefined ? unknownCommand(output, topic) : print(output, helpFor(named, output.width));
}

const findCommand = (name: string): Command | undefined =>
  [...COMMANDS, ...HIDDEN_COMMANDS].find(
    (command) => command.name === name || command.aliases?.includes(name) === true,
  );

function unknownCommand(output: Output, word: string): number {
  const close = nearestWord(word, NAMES);
  const hint =
    close === undefined ? 'turnbuckle --help lists the commands.' : `Did you mean "turnbuckle ${close}"?`;
  return usage(output, `There is no command "${word}".`, hint);
}

/** Options of a server's command look like ours until a `--` says whose they are. */
function nextStep(command: Command, problem: string): string {
  const { name } = command;
  const help = `turnbuckle ${name} --help shows how to write it.`;
  const unknown = /^Unknown option '--?([^']+)'/.exec(problem)?.[1];
  if (unknown === undefined) return help;
  const close = nearestWord(unknown, Object.keys({ ...GLOBAL_OPTIONS, ...command.options }));
  if (close !== undefined) return `Did you mean --${close}? ${help}`;
  return name === 'add'
    ? `Put -- before the server's command: turnbuckle add <name> -- <command> [arguments]. ${help}`
    : help;
}

type Parsed = Pick<CommandContext, 'words' | 'flags' | 'foreignFrom'>;

function parse(command: Command, args: readonly string[]): Parsed | string {
  const specs: Record<string, OptionSpec> = { ...GLOBAL_OPTIONS, ...command.options };
  const options = Object.fromEntries(
    Object.entries(specs).map(([name, { type, short, multiple }]) => [
      name,
      { type, ...(short && { short }), ...(multiple && { multiple }) },
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
      words: positionals,
      flags: values as CommandContext['flags'],
      ...(dashes !== -1 && { foreignFrom: before }),
    };
  } catch (error) {
    const [sentence = ''] = String(error instanceof Error ? error.message : error).split(/\. |\n/);
    return sentence.endsWith('.') ? sentence : `${sentence}.`;
  }
}

async function runCommand(
  command: Command,
  context: CommandContext,
  onOrderlyEnd: MainOptions['onOrderlyEnd'],
): Promise<number> {
  try {
    const { mostWords = Number.POSITIVE_INFINITY } = command;
    if (context.words.length > mostWords) (await import('./words.js')).refuseSurplus(context, mostWords);
    const { run } = await command.load();
    const code = (await run(context)) ?? 0;
    if (command.endsBySignal === true) onOrderlyEnd?.();
    return code;
  } catch (thrown) {
    if (context.signal.aborted) return INTERRUPTED_EXIT;
    const { reportError } = await import('./report-error.js');
    const { config, 'mcp-server': servers, verbose } = context.flags;
    return reportError(thrown, context.output, { verbose: verbose === true, named: { config, servers } });
  }
}

function print(output: Output, text: string): number {
  output.line(text);
  return 0;
}

function usage(output: Output, message: string, hint: string): number {
  if (output.json) output.data({ error: { code: 'USAGE', message, hint } });
  output.warn(`${output.color.red('error')} ${showMessage(message)}\n      ${showMessage(hint)}`);
  return USAGE_EXIT;
}
