/** Switching servers on and off in the configuration: in the file that decides it, or as an adjustment in another. */
import { editServers, type LoadedConfig, TurnbuckleError } from 'turnbuckle';
import type { CommandContext } from './command.js';
import { fileOfFlag, fileOfServer } from './config-file.js';
import { loadCommandConfig } from './open.js';
import { showLine } from './untrusted-text.js';
import { needWord } from './words.js';

export async function switchServers(context: CommandContext, action: 'enable' | 'disable'): Promise<void> {
  const { output, words } = context;
  needWord(context, 0, 'name of the server');
  const config = await loadCommandConfig(context);
  const wanted = fileOfFlag(context, config);
  const targets = [...new Set(words)].map((name) => {
    const own = fileOfServer(name, config);
    if (wanted !== undefined) requireEffect(name, wanted, config);
    return { name, file: wanted ?? decidingFile(name, own, config) };
  });
  for (const { name, file } of targets) {
    // In a stronger file than its own, the one key is enough.
    const changed = standsIn(file, name, config)
      ? await editServers(file, [{ action, name }])
      : await editServers(file, [{ action: 'set', name, config: { enabled: action === 'enable' } }]);
    const [state, bold] = [action === 'enable' ? 'on' : 'off', output.color.bold(showLine(name, 60))];
    if (!output.json)
      output.line(
        changed ? `Switched ${state}: ${bold} in ${file}` : `${bold} is ${state} already in ${file}`,
      );
  }
  if (output.json) output.data({ [`${action}d`]: targets });
}

/** The strongest file that says whether the server is on; the one it stands in when none does. */
function decidingFile(name: string, own: string, { layers }: LoadedConfig): string {
  const deciding = layers
    .slice(layers.findIndex(({ layer }) => layer.file === own))
    .filter(
      ({ layer, servers }) =>
        layer.scope !== 'managed' &&
        servers.some(({ name: other, entry }) => other === name && hasSwitch(entry)),
    );
  return deciding.at(-1)?.layer.file ?? own;
}

const hasSwitch = (entry: unknown): boolean =>
  typeof entry === 'object' && entry !== null && ('enabled' in entry || 'disabled' in entry);

/** A weaker file than the server's own cannot switch it, and half a server in it would be a fault. */
function requireEffect(name: string, file: string, { layers, servers }: LoadedConfig): void {
  const origin = servers.get(name)?.origin;
  const rank = (path: string | undefined): number => layers.findIndex(({ layer }) => layer.file === path);
  if (rank(file) === -1 || rank(file) >= rank(origin?.file)) return;
  throw new TurnbuckleError(
    'ARGUMENTS_INVALID',
    `Server "${name}" stands in ${origin?.file}, which is stronger than ${file}.`,
    { server: name, hint: 'Leave --scope out, or use --scope local.' },
  );
}

const standsIn = (file: string, name: string, { layers }: LoadedConfig): boolean =>
  layers.some(({ layer, servers }) => layer.file === file && servers.some((server) => server.name === name));
