/** Help, made from the command table: the same text on the terminal and in the reference page. */
import { type Command, GLOBAL_OPTIONS, type OptionSpec } from './command.js';
import { wrapText } from './wrap-text.js';

export function helpForAll(commands: readonly Command[], width = Number.POSITIVE_INFINITY): string {
  return [
    'Every MCP server from the command line.',
    '',
    'usage: turnbuckle <command> [arguments] [options]',
    '       (tbk is the same command, where it is installed)',
    '',
    ...columns(
      commands.map(({ name, summary }) => [`  ${name}`, summary]),
      { width },
    ),
    '',
    'Options of every command:',
    ...optionLines(GLOBAL_OPTIONS, width),
    '',
    ...wrapText(
      'turnbuckle <command> --help shows examples. turnbuckle --version says which this is.',
      width,
    ),
  ].join('\n');
}

export function helpFor(command: Command, width = Number.POSITIVE_INFINITY): string {
  const { name, aliases = [], arguments: args, summary, description, options, examples } = command;
  return [
    ...columns([['usage:', `turnbuckle ${name}${args === '' ? '' : ` ${args}`} [options]`]], {
      width,
      gap: 1,
    }),
    ...(aliases.length === 0 ? [] : [`also:  turnbuckle ${aliases.join(', turnbuckle ')}`]),
    '',
    ...wrapText(`${summary}.`, width),
    ...(description === undefined ? [] : ['', ...wrapText(description, width)]),
    ...(Object.keys(options).length === 0 ? [] : ['', 'Options:', ...optionLines(options, width)]),
    '',
    'Options of every command:',
    ...optionLines(GLOBAL_OPTIONS, width),
    '',
    'Examples:',
    // Each on a line of its own, so that it can be copied however wide the terminal is.
    ...examples.flatMap(({ line, what }) => [`  # ${what}`, `  ${line}`]),
  ].join('\n');
}

function optionLines(options: Readonly<Record<string, OptionSpec>>, width: number): string[] {
  const hasShort = Object.values(options).some(({ short }) => short !== undefined);
  const indent = hasShort ? '    ' : '';
  return columns(
    Object.entries(options).map(([name, { short, value, summary }]) => [
      `  ${short === undefined ? indent : `-${short}, `}--${name}${value === undefined ? '' : ` <${value}>`}`,
      summary,
    ]),
    { width },
  );
}

/** Less room than this makes a column of single words. */
const LEAST = 30;
const NARROW = 24;

/** Two columns; the second one goes on below itself where the terminal ends, and a long first one stands alone. */
function columns(
  rows: ReadonlyArray<readonly [left: string, right: string]>,
  { width, gap = 2 }: { readonly width: number; readonly gap?: number },
): string[] {
  const longest = Math.max(...rows.map(([left]) => left.length)) + gap;
  const start = width - longest < LEAST ? Math.min(longest, NARROW) : longest;
  return rows.flatMap(([left, right]) => {
    const [first = '', ...rest] = wrapText(right, width - start).map((line) => ' '.repeat(start) + line);
    return left.length + gap > start ? [left, first, ...rest] : [left + first.slice(left.length), ...rest];
  });
}
