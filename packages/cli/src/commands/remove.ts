import { editServers, type LoadedConfig } from 'turnbuckle';
import type { CommandContext } from '../command.js';
import { fileOfFlag, fileOfServer } from '../config-file.js';
import { loadCommandConfig } from '../open.js';
import { showLine } from '../untrusted-text.js';
import { needWord } from '../words.js';

/** The files that say what to run or contact, the strongest first. */
const definitionsOf = (name: string, { layers }: LoadedConfig): string[] =>
  layers
    .filter(({ servers }) => servers.some((one) => one.name === name && !isAdjustment(one.entry)))
    .map(({ layer }) => layer.file)
    .reverse();

const isAdjustment = (entry: unknown): boolean =>
  typeof entry === 'object' &&
  entry !== null &&
  !['command', 'url', 'type', 'baseUrl'].some((key) => key in entry);

/** What other files of the user say about a server that is gone would be a fault in them. */
async function removeAdjustments(
  { output }: CommandContext,
  { name, file, config }: { readonly name: string; readonly file: string; readonly config: LoadedConfig },
): Promise<void> {
  for (const { layer, servers } of config.layers) {
    const isThere = layer.file !== file && servers.some((one) => one.name === name);
    if (!isThere || layer.scope === 'managed') continue;
    if (layer.scope === 'project') {
      output.note(`  ${layer.file} still adjusts it; that file is the project's.`);
      continue;
    }
    await editServers(layer.file, [{ action: 'remove', name }]);
    output.note(`  What ${layer.file} said about it is removed, too.`);
  }
}

export async function run(context: CommandContext): Promise<void> {
  const { output, words } = context;
  needWord(context, 0, 'name of the server');
  const config = await loadCommandConfig(context);
  const targets = [...new Set(words)].map((name) => ({
    name,
    file: fileOfFlag(context, config) ?? fileOfServer(name, config),
  }));
  for (const { name, file } of targets) {
    await editServers(file, [{ action: 'remove', name }]);
    if (!output.json) output.line(`Removed ${output.color.bold(showLine(name, 60))} from ${file}`);
    const rest = definitionsOf(name, config).filter((other) => other !== file);
    if (rest[0] !== undefined)
      output.note(`  ${rest[0]} has a server of that name too, which is now in effect.`);
    else await removeAdjustments(context, { name, file, config });
  }
  if (output.json) output.data({ removed: targets });
}
