// Writes docs/commands.md from the command table: write-command-reference.mjs [--check] [file].
// With --check it writes nothing; the exit code is 1 if the page is not up to date.
import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const { values, positionals } = parseArgs({
  options: { check: { type: 'boolean' } },
  allowPositionals: true,
});
const file = positionals[0] ?? fileURLToPath(new URL('../docs/commands.md', import.meta.url));

/** A module of the command line as tsc emits it. */
async function load(name) {
  const url = new URL(`../packages/cli/build/${name}.js`, import.meta.url);
  return import(url.href).catch((cause) => {
    console.error(`${fileURLToPath(url)} cannot be loaded. Build first: npm run build\n${cause.message}`);
    process.exit(1);
  });
}

const { COMMANDS } = await load('commands');
const { GLOBAL_OPTIONS } = await load('command');
const { helpFor } = await load('help');

const code = (text) => `\`${text}\``;
// A vertical bar ends a cell, even inside code.
const cell = (text) => text.replaceAll('|', '\\|');

/** A Markdown table with aligned columns, as on the other pages. */
function table(head, rows) {
  const all = [head, ...rows.map((row) => row.map(cell))];
  const widths = head.map((_, column) => Math.max(...all.map((row) => [...row[column]].length)));
  const pad = (text, column) => text + ' '.repeat(widths[column] - [...text].length);
  const line = (cells) => `| ${cells.map(pad).join(' | ')} |`;
  return [line(all[0]), line(widths.map((width) => '-'.repeat(width))), ...all.slice(1).map(line)];
}

function optionTable(options) {
  const rows = Object.entries(options).map(([name, { short, value, multiple, summary }]) => {
    const written = `--${name}${value === undefined ? '' : ` <${value}>`}`;
    const repeated = multiple && !summary.includes('can be repeated') ? '; can be repeated' : '';
    return [
      `${short === undefined ? '' : `${code(`-${short}`)}, `}${code(written)}`,
      `${summary}${repeated}`,
    ];
  });
  return table(['option', 'what it does'], rows);
}

/** The lines of a shell block: each example, followed by a comment that explains it. */
function exampleLines(examples) {
  const longest = Math.max(...examples.map(({ line }) => line.length));
  return examples.map(({ line, what }) => (what === '' ? line : `${line.padEnd(longest)}  # ${what}`));
}

function section(command) {
  const { name, aliases = [], summary, description, options, examples } = command;
  const [usage] = helpFor(command).split('\n');
  return [
    `## ${name}`,
    '',
    `${summary}.${description === undefined ? '' : ` ${description}`}`,
    ...(aliases.length === 0 ? [] : ['', `Also: ${aliases.map(code).join(', ')}.`]),
    '',
    '```text',
    usage.replace(/^usage: /, ''),
    '```',
    '',
    ...(Object.keys(options).length === 0 ? [] : [...optionTable(options), '']),
    '```sh',
    ...exampleLines(examples),
    '```',
  ];
}

const page = `${[
  '# Commands',
  '',
  '<!-- Made from the command table by scripts/write-command-reference.mjs. Do not edit. -->',
  '',
  'Every command of `turnbuckle` (short: `tbk`). How they work together is in the [guide](command-line.md).',
  '`turnbuckle <command> --help` shows the same.',
  '',
  ...table(
    ['command', 'what it does'],
    COMMANDS.map(({ name, summary }) => [`[${name}](#${name})`, summary]),
  ),
  '',
  '## Options of every command',
  '',
  ...optionTable(GLOBAL_OPTIONS),
  ...COMMANDS.flatMap((command) => ['', ...section(command)]),
].join('\n')}\n`;

if (values.check) {
  const current = await readFile(file, 'utf8').catch(() => '');
  if (current !== page) {
    console.error(`${file} is not up to date. Write it again: node scripts/write-command-reference.mjs`);
    process.exit(1);
  }
  console.log(`Command reference: ${COMMANDS.length} commands, up to date`);
} else {
  await writeFile(file, page);
  console.log(`Wrote ${file}: ${COMMANDS.length} commands`);
}
