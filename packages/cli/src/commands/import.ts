import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, resolve } from 'node:path';
import { editConfig, type LoadedConfig, setKey, setServer, TurnbuckleError } from 'turnbuckle';
import type { CommandContext } from '../command.js';
import { fileOfFlag, fileOfScope } from '../config-file.js';
import {
  CLIENTS,
  discover,
  type ImportedInput,
  type ImportSource,
  type MergedServer,
  mergeImports,
  readDiscovered,
  readUnknownConfig,
} from '../imports/index.js';
import { loadCommandConfig } from '../open.js';
import { confirmChange } from '../preview.js';
import { currentText, rememberChange, undoChange } from '../undo.js';
import { unknownClient } from '../unknown-client.js';
import { showLine } from '../untrusted-text.js';

export async function run(context: CommandContext): Promise<void> {
  const { output, flags } = context;
  if (flags.undo === true) {
    const file = await undoChange(context, 'import');
    if (output.json) return output.data({ undone: file });
    return output.line(`${file} is as it was before.`);
  }
  const config = await loadCommandConfig(context);
  const found = await findServers(context);
  const wanted = found.servers.filter(
    (server) => !isKnown(server, config) && whyNot(server, context) === undefined,
  );
  for (const server of found.servers) tell(context, server, config);
  if (output.json && wanted.length === 0) return output.data({ imported: [] });
  if (wanted.length === 0)
    return output.note(
      found.servers.length === 0
        ? 'No servers of other tools were found. Name a file: turnbuckle import --from <file>'
        : 'There is nothing new to take over.',
    );
  await write(context, config, { servers: wanted, inputs: found.inputs });
}

interface Found {
  readonly servers: readonly MergedServer[];
  readonly inputs: readonly ImportedInput[];
}

async function findServers(context: CommandContext): Promise<Found> {
  const { words, flags, environment, output } = context;
  if (typeof flags.from === 'string') return readFrom(resolve(flags.from), context);
  const unknown = words.find((word) => !CLIENTS.some(({ id }) => id === word));
  if (unknown !== undefined) throw unknownClient(unknown, 'import from');
  const place = {
    platform: process.platform,
    home: environment.HOME ?? homedir(),
    env: environment,
    cwd: process.cwd(),
  };
  const files = discover(place).filter(({ client }) => words.length === 0 || words.includes(client));
  const inputs: ImportedInput[] = [];
  const sources: ImportSource[] = files.map((file) => {
    const result = readDiscovered(file);
    inputs.push(...result.inputs);
    for (const problem of result.problems)
      output.warn(`${output.color.yellow('warning')} ${file.path}: ${showLine(problem, 200)}`);
    for (const { name, reason } of result.skipped)
      output.note(
        output.color.dim(`skipped ${showLine(name, 60)} of ${file.client}: ${showLine(reason, 200)}`),
      );
    return { client: file.client, path: file.path, servers: result.servers };
  });
  return { servers: mergeImports(sources), inputs };
}

async function readFrom(path: string, { output }: CommandContext): Promise<Found> {
  const text = await readFile(path, 'utf8').catch((cause: unknown) => {
    throw new TurnbuckleError('CONFIG_INVALID', `${path} cannot be read.`, {
      cause,
      hint: 'Name a file that is there: --from <file>',
    });
  });
  const result = readUnknownConfig(text, { file: path });
  for (const problem of result.problems)
    output.warn(`${output.color.yellow('warning')} ${path}: ${showLine(problem, 200)}`);
  for (const { name, reason } of result.skipped)
    output.note(output.color.dim(`skipped ${showLine(name, 60)}: ${showLine(reason, 200)}`));
  return {
    servers: mergeImports([{ client: basename(path), path, servers: result.servers }]),
    inputs: result.inputs,
  };
}

const isKnown = ({ name }: MergedServer, { servers }: LoadedConfig): boolean => servers.has(name);

/**
 * A project's servers stay the project's: in the user's own file they would start without having been agreed to.
 * What somebody refused in another tool is not taken over at all.
 */
function whyNot({ trust, scope }: MergedServer, { flags }: CommandContext): string | undefined {
  if (trust === 'rejected') return 'refused in that tool';
  const ofProject = trust === 'ask' || scope === 'project';
  if (!ofProject || flags.scope === 'project' || flags.scope === 'local') return undefined;
  return "a project's; take it over with --scope local, then turnbuckle trust";
}

function tell(context: CommandContext, server: MergedServer, config: LoadedConfig): void {
  const { output } = context;
  const reason = isKnown(server, config) ? 'you have one of that name' : whyNot(server, context);
  const state = reason === undefined ? output.color.green('new') : output.color.dim(reason);
  output.note(
    `${output.color.bold(showLine(server.name, 60))} from ${server.from.client} (${server.from.path}): ${state}`,
  );
  for (const note of server.notes) output.note(output.color.dim(`  ${showLine(note, 200)}`));
  for (const { client, same } of server.shadowed)
    output.note(output.color.dim(`  ${client} has ${same ? 'the same' : 'another one of that name'}`));
}

async function write(
  context: CommandContext,
  config: LoadedConfig,
  { servers, inputs }: Found,
): Promise<void> {
  const { output } = context;
  const file = fileOfFlag(context, config) ?? fileOfScope('user', config);
  const before = await currentText(file);
  // What another file declares stays there.
  const own = config.settingOrigins.get('inputs')?.file === file ? (config.settings.inputs ?? []) : [];
  const known = new Set((config.settings.inputs ?? []).map(({ id }) => id));
  const used = JSON.stringify(servers.map(({ config: entry }) => entry));
  const fresh = inputs.filter(({ id }) => !known.has(id) && used.includes(`\${input:${id}}`));
  const change = (text: string): string => {
    const filled = servers.reduce((result, { name, config }) => setServer(result, name, config), text);
    return fresh.length === 0 ? filled : setKey(filled, ['inputs'], [...own, ...fresh]);
  };
  const after = change(before ?? '');
  const entries = servers.map(({ config: entry }) => ({ ...entry }));
  if (!(await confirmChange(context, { file, before, after }, entries)))
    return output.note('Nothing was written.');
  await editConfig(file, change);
  await rememberChange(context, 'import', { file, before, after: (await currentText(file)) ?? '' });
  if (output.json) output.data({ imported: servers.map(({ name, from }) => ({ name, from })), file });
  else output.line(`Took over ${servers.length} server${servers.length === 1 ? '' : 's'} into ${file}`);
  output.note(output.color.dim('Take it back: turnbuckle import --undo. See them: turnbuckle list'));
}
