import { mkdir, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, resolve } from 'node:path';
import { TurnbuckleError } from 'turnbuckle';
import type { CommandContext } from '../command.js';
import { CLIENTS, clientById, discover, writeClientConfig } from '../imports/index.js';
import { loadCommandConfig } from '../open.js';
import { confirmChange } from '../preview.js';
import { currentText, rememberChange } from '../undo.js';
import { showLine } from '../untrusted-text.js';

export async function run(context: CommandContext): Promise<void> {
  const { output, flags, words } = context;
  const client = clientOf(context);
  const config = await loadCommandConfig(context);
  const unknown = words.find((name) => !config.servers.has(name));
  if (unknown !== undefined)
    throw new TurnbuckleError(
      'SERVER_UNKNOWN',
      `There is no server named "${unknown}" in the configuration.`,
      { server: unknown },
    );
  const servers = [...config.servers.values()]
    .filter(
      ({ name, config: usable }) => usable !== undefined && (words.length === 0 || words.includes(name)),
    )
    .map(({ name, entry }) => ({ name, config: entry }));
  const file = flags.file === '-' ? undefined : targetFile(context, client);
  const before = file === undefined ? '' : await currentText(file);
  const inputs = (config.settings.inputs ?? []).map(({ id, description, password }) => ({
    id,
    password,
    ...(description !== undefined && { description }),
  }));
  const result = writeClientConfig({ client, inputs, ...(file !== undefined && { file }) }, before, servers);
  for (const { name, note } of result.notes) output.note(output.color.dim(`${name}: ${showLine(note, 200)}`));
  for (const { name, reason } of result.skipped)
    output.note(`${output.color.yellow('skipped')} ${name}: ${showLine(reason, 200)}`);
  if (result.text === undefined)
    throw new TurnbuckleError('CONFIG_INVALID', `${file ?? client}: ${result.problems.join('; ')}`);
  if (file === undefined) return output.line(result.text.trimEnd());
  if (result.text === before) return output.note(`${file} says all that already.`);
  if (!(await confirmChange(context, { file, before, after: result.text })))
    return output.note('Nothing was written.');
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, result.text);
  await rememberChange(context, 'export', { file, before, after: result.text });
  if (output.json) output.data({ exported: servers.map(({ name }) => name), file });
  else output.line(`Wrote ${servers.length} server${servers.length === 1 ? '' : 's'} to ${file}`);
}

function clientOf({ flags }: CommandContext): string {
  const known = CLIENTS.map(({ id }) => id).join(', ');
  if (typeof flags.to !== 'string')
    throw new TurnbuckleError('ARGUMENTS_INVALID', 'Which tool to write for is missing: --to <client>.', {
      hint: `There are: ${known}`,
    });
  if (clientById(flags.to) === undefined)
    throw new TurnbuckleError('ARGUMENTS_INVALID', `There is no tool "${flags.to}" to write for.`, {
      hint: `There are: ${known}`,
    });
  return flags.to;
}

/** The file named, the one the tool has, or the first of those it would look for. */
function targetFile({ flags, environment }: CommandContext, client: string): string {
  if (typeof flags.file === 'string') return resolve(flags.file);
  const place = {
    platform: process.platform,
    home: environment.HOME ?? homedir(),
    env: environment,
    cwd: process.cwd(),
  };
  const existing = discover(place).find((file) => file.client === client && file.scope === 'user');
  if (existing !== undefined) return existing.path;
  throw new TurnbuckleError('CONFIG_INVALID', `No configuration of ${client} was found.`, {
    hint: 'Name the file: --file <path>, or print it: --file -',
  });
}
