/** Switching servers on and off in the configuration: in the file they stand in, or as an adjustment in another. */
import { editServers, type LoadedConfig } from 'turnbuckle';
import type { CommandContext } from './command.js';
import { fileOfFlag, fileOfServer } from './config-file.js';
import { loadCommandConfig } from './open.js';
import { needWord } from './words.js';

export async function switchServers(context: CommandContext, action: 'enable' | 'disable'): Promise<void> {
  const { output, words } = context;
  needWord(context, 0, 'name of the server');
  const config = await loadCommandConfig(context);
  const done: Array<{ name: string; file: string }> = [];
  for (const name of words) {
    const own = fileOfServer(name, config);
    const file = fileOfFlag(context, config) ?? own;
    // In a stronger file than its own, the one key is enough.
    if (file === own || standsIn(file, name, config)) await editServers(file, [{ action, name }]);
    else await editServers(file, [{ action: 'set', name, config: { enabled: action === 'enable' } }]);
    done.push({ name, file });
    output.note(`Switched ${output.color.bold(name)} ${action === 'enable' ? 'on' : 'off'} in ${file}`);
  }
  if (output.json) output.data({ [`${action}d`]: done });
}

const standsIn = (file: string, name: string, { layers }: LoadedConfig): boolean =>
  layers.some(({ layer, servers }) => layer.file === file && servers.some((server) => server.name === name));
