import { editConfig, type LoadedConfig, relativeWords, setKey, setServer } from 'turnbuckle';
import type { CommandContext } from '../command.js';
import { fileOfFlag, fileOfScope } from '../config-file.js';
import { createLeadsHere } from '../daemon/leads-here.js';
import { emptyCredentials } from '../empty-credentials.js';
import { type Found, findServers } from '../import-sources.js';
import type { MergedServer } from '../imports/index.js';
import { loadCommandConfig } from '../open.js';
import { confirmChange } from '../preview.js';
import { currentText, rememberChange, undoChange } from '../undo.js';
import { showLine } from '../untrusted-text.js';
import { warnOfSecrets } from '../warn-of-secrets.js';

export async function run(context: CommandContext): Promise<void> {
  const { output, flags } = context;
  if (flags.undo === true) {
    const file = await undoChange(context, 'import');
    if (output.json) return output.data({ undone: file });
    return output.line(`${file} is as it was before.`);
  }
  const config = await loadCommandConfig(context);
  const file = fileOfFlag(context, config) ?? fileOfScope('user', config);
  const found = await findServers(context, { file, leadsHere: createLeadsHere(context, config) });
  for (const { server, reason } of found.left) tell(context, server, reason);
  for (const server of found.servers)
    tell(context, server, config.servers.has(server.name) ? 'you have one of that name' : undefined);
  const wanted = found.servers.filter(({ name }) => !config.servers.has(name));
  if (output.json && wanted.length === 0) return output.data({ imported: [] });
  if (wanted.length === 0)
    return output.note(
      found.servers.length + found.left.length === 0
        ? 'No servers of other tools were found. Name a file: turnbuckle import --from <file>'
        : 'There is nothing new to take over.',
    );
  await write(context, config, { file, servers: wanted, inputs: found.inputs });
}

/** `reason`: why it is left. */
function tell({ output, flags }: CommandContext, server: MergedServer, reason: string | undefined): void {
  const state = reason === undefined ? output.color.green('new') : output.color.dim(reason);
  output.note(
    `${output.color.bold(showLine(server.name, 60))} from ${server.from.client} (${server.from.path}): ${state}`,
  );
  for (const note of [...server.notes, ...emptyCredentials(server.config)])
    output.note(output.color.dim(`  ${showLine(note, 200)}`));
  if (reason === undefined) {
    // The preview does not show them, so it has to be said that they are written.
    warnOfSecrets(output, { name: server.name, config: server.config, done: 'copied', indent: '  ' });
    warnOfDirectory(output, server, flags);
  }
  for (const { client, same } of server.shadowed)
    output.note(output.color.dim(`  ${client} has ${same ? 'the same' : 'another one of that name'}`));
}

/** Nobody knows in which directory the other tool started it. A project's servers are started in the project's. */
function warnOfDirectory(
  output: CommandContext['output'],
  { config }: MergedServer,
  { scope }: CommandContext['flags'],
): void {
  const entry = { ...config };
  const [word] = 'cwd' in entry && entry.cwd !== undefined ? [] : relativeWords(entry);
  if (word === undefined || scope === 'project' || scope === 'local') return;
  output.warn(
    `  ${output.color.yellow('warning')} "${showLine(word, 100)}" is meant from where it is started: say in "cwd" which directory that is.`,
  );
}

async function write(
  context: CommandContext,
  config: LoadedConfig,
  { file, servers, inputs }: Omit<Found, 'left'> & { readonly file: string },
): Promise<void> {
  const { output } = context;
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
