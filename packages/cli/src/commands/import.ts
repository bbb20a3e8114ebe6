import { editConfig, findRelativePaths, type LoadedConfig, setKey, setServer } from 'turnbuckle/host';
import type { CommandContext } from '../command.js';
import type { MergedServer } from '../imports/index.js';
import { emptyCredentials } from '../session/checks/empty-credentials.js';
import { warnOfSecrets } from '../session/checks/warn-of-secrets.js';
import { loadCommandConfig } from '../session/command-runtime.js';
import { fileOfFlag, fileOfScope } from '../session/config-file.js';
import { type FoundServers, findServers } from '../setup/import-sources.js';
import { createSelfReferenceCheck } from '../setup/self-reference.js';
import { showLine } from '../terminal/untrusted-text.js';
import { confirmChange } from '../undo/confirm-change.js';
import { readCurrentText, rememberChange, undoChange } from '../undo/undo.js';

export async function run(context: CommandContext): Promise<void> {
  const { output, flags } = context;
  if (flags.undo === true) {
    const file = await undoChange(context, 'import');
    if (output.json) return output.data({ undone: file });
    return output.line(`${file} restored.`);
  }
  const config = await loadCommandConfig(context);
  const file = fileOfFlag(context, config) ?? fileOfScope('user', config);
  const found = await findServers(context, {
    file,
    checkSelfReference: createSelfReferenceCheck(context, config),
  });
  for (const { server, reason } of found.skipped) printServer(context, server, reason);
  for (const server of found.servers)
    printServer(context, server, config.servers.has(server.name) ? 'already configured' : undefined);
  const wanted = found.servers.filter(({ name }) => !config.servers.has(name));
  if (output.json && wanted.length === 0) return output.data({ imported: [] });
  if (wanted.length === 0)
    return output.note(
      found.servers.length + found.skipped.length === 0
        ? 'No servers found in the configuration of other applications. Import from a file: turnbuckle import --from <file>'
        : 'Nothing new to import.',
    );
  await write(context, config, { file, servers: wanted, inputs: found.inputs });
}

/** `reason`: why it is left. */
function printServer(
  { output, flags }: CommandContext,
  server: MergedServer,
  reason: string | undefined,
): void {
  const state = reason === undefined ? output.color.green('new') : output.color.dim(reason);
  output.note(
    `${output.color.bold(showLine(server.name, 60))} from ${server.from.client} (${server.from.path}): ${state}`,
  );
  for (const note of [...server.notes, ...emptyCredentials(server.config)])
    output.note(output.color.dim(`  ${showLine(note, 200)}`));
  if (reason === undefined) {
    // The preview redacts them, so warn that they are written.
    warnOfSecrets(output, { name: server.name, config: server.config, action: 'copied', indent: '  ' });
    warnOfDirectory(output, server, flags);
  }
  for (const { client, same } of server.shadowed)
    output.note(
      output.color.dim(
        `  ${same ? 'the same server' : 'a different server with the same name'} is also configured in ${client}`,
      ),
    );
}

/** The working directory in the other tool is unknown. Servers of a project start in its directory. */
function warnOfDirectory(
  output: CommandContext['output'],
  { config }: MergedServer,
  { scope }: CommandContext['flags'],
): void {
  const entry = { ...config };
  const [word] = 'cwd' in entry && entry.cwd !== undefined ? [] : findRelativePaths(entry);
  if (word === undefined || scope === 'project' || scope === 'local') return;
  output.warn(
    `  ${output.color.yellow('warning')} "${showLine(word, 100)}" is a relative path. Set "cwd" to the directory that the path is relative to.`,
  );
}

async function write(
  context: CommandContext,
  config: LoadedConfig,
  { file, servers, inputs }: Omit<FoundServers, 'skipped'> & { readonly file: string },
): Promise<void> {
  const { output } = context;
  const before = await readCurrentText(file);
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
  await rememberChange(context, 'import', { file, before, after: (await readCurrentText(file)) ?? '' });
  if (output.json) output.data({ imported: servers.map(({ name, from }) => ({ name, from })), file });
  else output.line(`Imported ${servers.length} server${servers.length === 1 ? '' : 's'} into ${file}`);
  output.note(output.color.dim('Show the servers: turnbuckle list\nUndo: turnbuckle import --undo'));
}
