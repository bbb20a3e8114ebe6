/** Help, made from the command table: the same text on the terminal and in the reference page. */
import { GLOBAL_OPTIONS } from './command.js';
import { textTable } from './text-table.js';
export function helpForAll(commands) {
  return [
    'Every MCP server from the command line.',
    '',
    'usage: turnbuckle <command> [arguments] [options]      (short: tbk)',
    '',
    ...textTable(commands.map(({ name, summary }) => [`  ${name}`, summary])),
    '',
    'Options of every command:',
    ...optionLines(GLOBAL_OPTIONS),
    '',
    'turnbuckle <command> --help shows examples.',
  ].join('\n');
}
export function helpFor({ name, aliases = [], arguments: args, summary, description, options, examples }) {
  return [
    `usage: turnbuckle ${name}${args === '' ? '' : ` ${args}`} [options]`,
    ...(aliases.length === 0 ? [] : [`also:  turnbuckle ${aliases.join(', turnbuckle ')}`]),
    '',
    `${summary}.`,
    ...(description === undefined ? [] : ['', description]),
    ...(Object.keys(options).length === 0 ? [] : ['', 'Options:', ...optionLines(options)]),
    '',
    'Options of every command:',
    ...optionLines(GLOBAL_OPTIONS),
    '',
    'Examples:',
    ...textTable(
      examples.map(({ line, what }) => [`  ${line}`, what]),
      4,
    ),
  ].join('\n');
}
function optionLines(options) {
  return textTable(
    Object.entries(options).map(([name, { short, value, summary }]) => [
      `  ${short === undefined ? '' : `-${short}, `}--${name}${value === undefined ? '' : ` <${value}>`}`,
      summary,
    ]),
  );
}
//# sourceMappingURL=help.js.map
