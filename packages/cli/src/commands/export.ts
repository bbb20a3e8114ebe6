import { writeFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { makeDirectory, TurnbuckleError } from 'turnbuckle';
import type { CommandContext } from '../command.js';
import { placeOf } from '../daemon/agent-clients.js';
import { CLIENTS, clientById, discover, writeClientConfig } from '../imports/index.js';
import { loadCommandConfig } from '../open.js';
import { confirmChange } from '../preview.js';
import { currentText, rememberChange, undoChange } from '../undo.js';
import { unknownClient } from '../unknown-client.js';
import { unknownServer } from '../unknown-server.js';
import { showLine, showText } from '../untrusted-text.js';

export async function run(context: CommandContext): Promise<void> {
  const { output, flags, words } = context;
  if (flags.undo === true) {
    const file = await undoChange(context, 'export');
    if (output.json) return output.data({ undone: file });
    return output.line(`${file} is as it was before.`);
  }
  const client = clientOf(context);
  const config = await loadCommandConfig(context);
  const unknown = words.find((name) => !config.servers.has(name));
  if (unknown !== undefined) throw unknownServer(unknown, [...config.servers.keys()]);
  const wanted = [...config.servers.values()].filter(
    ({ name }) => words.length === 0 || words.includes(name),
  );
  // What nobody agreed to here must not start there.
  const servers = wanted
    .filter(({ problem }) => problem === undefined)
    .map(({ name, entry }) => ({ name, config: entry }));
  for (const { name, problem } of wanted)
    if (problem !== undefined) skip(context, name, `${problem.message} ${problem.hint ?? ''}`);
  if (servers.length === 0)
    throw new TurnbuckleError('SERVER_UNKNOWN', 'There is no server to write.', {
      hint: 'turnbuckle config shows what there is, and why a server cannot be used.',
    });
  const file = flags.file === '-' ? undefined : targetFile(context, client);
  const before = file === undefined ? undefined : await currentText(file);
  const inputs = (config.settings.inputs ?? []).map(({ id, description, password }) => ({
    id,
    password,
    ...(description !== undefined && { description }),
  }));
  const result = writeClientConfig(
    { client, inputs, ...(file !== undefined && { file }) },
    before ?? '',
    servers,
  );
  for (const { name, note } of result.notes)
    output.note(output.color.dim(`${showLine(name, 60)}: ${showLine(note, 200)}`));
  for (const { name, reason } of result.skipped) skip(context, name, reason);
  if (result.text === undefined)
    throw new TurnbuckleError('CONFIG_INVALID', `${file ?? client}: ${result.problems.join('; ')}`, {
      hint: 'Correct it there, or write to another file: --file <file>, --file - prints it.',
    });
  if (file === undefined) {
    if (output.json) return output.data({ client, text: result.text });
    return output.line(showText(result.text.trimEnd()));
  }
  if (result.text === before) {
    if (output.json) return output.data({ exported: [], file });
    return output.note(`${file} says all that already.`);
  }
  const entries = servers.map(({ config: entry }) => entry);
  if (!(await confirmChange(context, { file, before, after: result.text }, entries)))
    return output.note('Nothing was written.');
  if ((await currentText(file)) !== before)
    throw new TurnbuckleError('CONFIG_INVALID', `${file} was changed in the meantime; it is left as it is.`, {
      hint: 'Run it again to see the difference to what it is now.',
    });
  const made = makeDirectory(dirname(file), 0o777);
  // It may hold tokens; one that is there keeps the rights it has.
  await writeFile(file, result.text, { mode: 0o600 });
  await rememberChange(context, 'export', { file, before, after: result.text, made });
  const left = new Set(result.skipped.map(({ name }) => name));
  const written = servers.map(({ name }) => name).filter((name) => !left.has(name));
  if (output.json) output.data({ exported: written, file });
  else output.line(`Wrote ${written.length} server${written.length === 1 ? '' : 's'} to ${file}`);
  output.note(output.color.dim('Take it back: turnbuckle export --undo'));
}

function skip({ output }: CommandContext, name: string, reason: string): void {
  output.warn(`${output.color.yellow('skipped')} ${showLine(name, 60)}: ${showLine(reason, 300)}`);
}

function clientOf({ flags }: CommandContext): string {
  if (typeof flags.to !== 'string')
    throw new TurnbuckleError('ARGUMENTS_INVALID', 'Which tool to write for is missing: --to <client>.', {
      hint: `There are: ${CLIENTS.map(({ id }) => id).join(', ')}`,
    });
  if (clientById(flags.to) === undefined) throw unknownClient(flags.to, 'write for');
  return flags.to;
}

/** The file named, the one the tool has, or the first of those it would look for. */
function targetFile({ flags, environment }: CommandContext, client: string): string {
  if (typeof flags.file === 'string') return resolve(flags.file);
  const existing = discover(placeOf({ environment })).find(
    (file) => file.client === client && file.scope === 'user',
  );
  if (existing !== undefined) return existing.path;
  throw new TurnbuckleError('CONFIG_INVALID', `No configuration of ${client} was found.`, {
    hint: 'Name the file: --file <path>, or print it: --file -',
  });
}
