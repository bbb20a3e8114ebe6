/** Help, made from the command table: the same text on the terminal and in the reference page. */
import { type Command, GLOBAL_OPTIONS, type OptionSpec } from './command.js';
import { wrapText } from './terminal/wrap-text.js';

export function helpForAll(commands: readonly Command[], width = Number.POSITIVE_INFINITY): string {
  return [
    'Call tools on any MCP server from the command line.',
    '',
    'usage: turnbuckle <command> [arguments] [options]',
    '       (short: tbk)',
    '',
    ...columns(
      commands.map(({ name, summary }) => [`  ${name}`, summary]),
      { width },
    ),
    '',
    'Global options:',
    ...optionLines(GLOBAL_OPTIONS, width),
    '',
    'Details and examples: turnbuckle <command> --help',
    'Version: turnbuckle --version',
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
    'Global options:',
    ...optionLines(GLOBAL_OPTIONS, width),
    ...(examples.length === 0 ? [] : ['', 'Examples:']),
    // One line each, so that it can be copied at any terminal width.
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
const MIN_COLUMN_WIDTH = 30;
const NARROW_LABEL_WIDTH = 24;

/** Two columns; the second wraps within its column, and a long label gets a separate line. */
function columns(
  rows: ReadonlyArray<readonly [left: string, right: string]>,
  { width, gap = 2 }: { readonly width: number; readonly gap?: number },
): string[] {
  const longest = Math.max(...rows.map(([left]) => left.length)) + gap;
  const start = width - longest < MIN_COLUMN_WIDTH ? Math.min(longest, NARROW_LABEL_WIDTH) : longest;
  return rows.flatMap(([left, right]) => {
    const [first = '', ...rest] = wrapText(right, width - start).map((line) => ' '.repeat(start) + line);
    return left.length + gap > start ? [left, first, ...rest] : [left + first.slice(left.length), ...rest];
  });
}
