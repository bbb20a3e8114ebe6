import { editServers, type LoadedConfig } from 'turnbuckle/host';
import type { CommandContext } from '../command.js';
import { requirePositional } from '../command-line/positionals.js';
import { reloadDaemon } from '../daemon/reload-daemon.js';
import { loadCommandConfig } from '../session/command-runtime.js';
import { fileOfFlag, fileOfServer } from '../session/config-file.js';
import { showLine } from '../terminal/untrusted-text.js';

/** The files that define what to run or contact, highest priority first. */
const definitionsOf = (name: string, { layers }: LoadedConfig): string[] =>
  layers
    .filter(({ servers }) => servers.some((one) => one.name === name && !isAdjustment(one.entry)))
    .map(({ layer }) => layer.file)
    .reverse();

const isAdjustment = (entry: unknown): boolean =>
  typeof entry === 'object' &&
  entry !== null &&
  !['command', 'url', 'type', 'baseUrl'].some((key) => key in entry);

/** Settings for a removed server in the user's other files would be invalid. */
async function removeAdjustments(
  { output }: CommandContext,
  { name, file, config }: { readonly name: string; readonly file: string; readonly config: LoadedConfig },
): Promise<void> {
  for (const { layer, servers } of config.layers) {
    const isThere = layer.file !== file && servers.some((one) => one.name === name);
    if (!isThere || layer.scope === 'managed') continue;
    if (layer.scope === 'project') {
      output.note(
        `  ${layer.file} belongs to the project and was not changed; it still has settings for this server.`,
      );
      continue;
    }
    await editServers(layer.file, [{ action: 'remove', name }]);
    output.note(`  Also removed this server's settings from ${layer.file}.`);
  }
}

export async function run(context: CommandContext): Promise<void> {
  const { output, positionals } = context;
  requirePositional(context, 0, 'server name');
  const config = await loadCommandConfig(context);
  const targets = [...new Set(positionals)].map((name) => ({
    name,
    file: fileOfFlag(context, config) ?? fileOfServer(name, config),
  }));
  for (const { name, file } of targets) {
    await editServers(file, [{ action: 'remove', name }]);
    if (!output.json) output.line(`Removed ${output.color.bold(showLine(name, 60))} from ${file}`);
    const rest = definitionsOf(name, config).filter((other) => other !== file);
    if (rest[0] !== undefined)
      output.note(`  ${rest[0]} also defines a server with this name. That definition is used now.`);
    else await removeAdjustments(context, { name, file, config });
  }
  if (output.json) output.data({ removed: targets });
  await reloadDaemon(context);
}
