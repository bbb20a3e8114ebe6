import { writeFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { TurnbuckleError } from 'turnbuckle';
import { makeDirectory } from 'turnbuckle/host';
import type { CommandContext } from '../command.js';
import { CLIENTS, clientById, discover, writeClientConfig } from '../imports/index.js';
import { unknownClient } from '../imports/unknown-client.js';
import { loadCommandConfig } from '../session/command-runtime.js';
import { unknownServer } from '../session/unknown-server.js';
import { currentMachine } from '../setup/agent-clients.js';
import { showLine, showText } from '../terminal/untrusted-text.js';
import { confirmChange } from '../undo/confirm-change.js';
import { readCurrentText, rememberChange, undoChange } from '../undo/undo.js';

export async function run(context: CommandContext): Promise<void> {
  const { output, flags, positionals } = context;
  if (flags.undo === true) {
    const file = await undoChange(context, 'export');
    if (output.json) return output.data({ undone: file });
    return output.line(`${file} restored.`);
  }
  const client = clientOf(context);
  const config = await loadCommandConfig(context);
  const unknown = positionals.find((name) => !config.servers.has(name));
  if (unknown !== undefined) throw unknownServer(unknown, [...config.servers.keys()]);
  const wanted = [...config.servers.values()].filter(
    ({ name }) => positionals.length === 0 || positionals.includes(name),
  );
  // A server that is not trusted here must not start there.
  const servers = wanted
    .filter(({ problem }) => problem === undefined)
    .map(({ name, entry }) => ({ name, config: entry }));
  for (const { name, problem } of wanted)
    if (problem !== undefined) skip(context, name, `${problem.message} ${problem.hint ?? ''}`);
  if (servers.length === 0)
    throw new TurnbuckleError('SERVER_UNKNOWN', 'No servers to export.', {
      hint: 'Show all servers and their problems: turnbuckle config',
    });
  const file = flags.file === '-' ? undefined : targetFile(context, client);
  const before = file === undefined ? undefined : await readCurrentText(file);
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
      hint: 'Fix the file, write to another file with --file <file>, or print to stdout with --file -.',
    });
  if (file === undefined) {
    if (output.json) return output.data({ client, text: result.text });
    return output.line(showText(result.text.trimEnd()));
  }
  if (result.text === before) {
    if (output.json) return output.data({ exported: [], file });
    return output.note(`${file} is already up to date.`);
  }
  await confirmAndWrite(context, { file, before, servers, text: result.text, skipped: result.skipped });
}

interface ExportedFile {
  readonly file: string;
  readonly before: string | undefined;
  readonly text: string;
  readonly servers: ReadonlyArray<{
    readonly name: string;
    readonly config: Readonly<Record<string, unknown>>;
  }>;
  readonly skipped: ReadonlyArray<{ readonly name: string }>;
}

async function confirmAndWrite(
  context: CommandContext,
  { file, before, text, servers, skipped }: ExportedFile,
): Promise<void> {
  const { output } = context;
  const entries = servers.map(({ config: entry }) => entry);
  if (!(await confirmChange(context, { file, before, after: text }, entries)))
    return output.note('Nothing was written.');
  if ((await readCurrentText(file)) !== before)
    throw new TurnbuckleError('CONFIG_INVALID', `${file} changed in the meantime and was not overwritten.`, {
      hint: 'Run the command again to see the current diff.',
    });
  const made = makeDirectory(dirname(file), 0o777);
  // It may hold tokens; one that is there keeps the rights it has.
  await writeFile(file, text, { mode: 0o600 });
  await rememberChange(context, 'export', { file, before, after: text, made });
  const left = new Set(skipped.map(({ name }) => name));
  const written = servers.map(({ name }) => name).filter((name) => !left.has(name));
  if (output.json) output.data({ exported: written, file });
  else output.line(`Wrote ${written.length} server${written.length === 1 ? '' : 's'} to ${file}`);
  output.note(output.color.dim('Undo: turnbuckle export --undo'));
}

function skip({ output }: CommandContext, name: string, reason: string): void {
  output.warn(`${output.color.yellow('skipped')} ${showLine(name, 60)}: ${showLine(reason, 300)}`);
}

function clientOf({ flags }: CommandContext): string {
  if (typeof flags.to !== 'string')
    throw new TurnbuckleError('ARGUMENTS_INVALID', 'Missing option: --to <client>.', {
      hint: `Available clients: ${CLIENTS.map(({ id }) => id).join(', ')}`,
    });
  if (clientById(flags.to) === undefined) throw unknownClient(flags.to);
  return flags.to;
}

/** The file named, the one the tool has, or the first of those it would look for. */
function targetFile({ flags, environment }: CommandContext, client: string): string {
  if (typeof flags.file === 'string') return resolve(flags.file);
  const existing = discover(currentMachine({ environment })).find(
    (file) => file.client === client && file.scope === 'user',
  );
  if (existing !== undefined) return existing.path;
  throw new TurnbuckleError('CONFIG_INVALID', `No configuration file for ${client} was found.`, {
    hint: 'Specify the file with --file <path>, or print to stdout with --file -.',
  });
}
