/** Switching servers on and off in the configuration: in the file that decides it, or as an adjustment in another. */
import { TurnbuckleError } from 'turnbuckle';
import { editServers, type LoadedConfig } from 'turnbuckle/host';
import type { CommandContext } from '../command.js';
import { requirePositional } from '../command-line/positionals.js';
import { showLine } from '../terminal/untrusted-text.js';
import { loadCommandConfig } from './command-runtime.js';
import { fileOfFlag, fileOfServer } from './config-file.js';

export async function switchServers(context: CommandContext, action: 'enable' | 'disable'): Promise<void> {
  const { output, positionals } = context;
  requirePositional(context, 0, 'server name');
  const config = await loadCommandConfig(context);
  const wanted = fileOfFlag(context, config);
  const targets = [...new Set(positionals)].map((name) => {
    const own = fileOfServer(name, config);
    if (wanted !== undefined) requireEffect(name, wanted, config);
    return { name, file: wanted ?? decidingFile(name, own, config) };
  });
  for (const { name, file } of targets) {
    // In a stronger file than its own, the one key is enough.
    const changed = isDefinedIn(file, name, config)
      ? await editServers(file, [{ action, name }])
      : await editServers(file, [{ action: 'set', name, config: { enabled: action === 'enable' } }]);
    const [state, bold] = [
      action === 'enable' ? 'enabled' : 'disabled',
      output.color.bold(showLine(name, 60)),
    ];
    if (!output.json)
      output.line(changed ? `${bold} is ${state} in ${file}` : `${bold} is already ${state} in ${file}`);
  }
  if (output.json) output.data({ [`${action}d`]: targets });
}

/** The highest-priority file that enables or disables the server; else the one that defines it. */
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
    `Server "${name}" is defined in ${origin?.file}, which takes precedence over ${file}.`,
    { server: name, hint: 'Omit --scope, or use --scope local.' },
  );
}

const isDefinedIn = (file: string, name: string, { layers }: LoadedConfig): boolean =>
  layers.some(({ layer, servers }) => layer.file === file && servers.some((server) => server.name === name));
