/** Switching servers on and off in the configuration: in the file that decides it, or as an adjustment in another. */
import { TurnbuckleError } from 'turnbuckle';
import { editServers, type LoadedConfig } from 'turnbuckle/host';
import { shellQuote } from 'turnbuckle/light';
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
  const targets = [...new Set(positionals)].flatMap((name) => {
    const own = fileOfServer(name, config);
    if (wanted !== undefined) requireEffect(name, wanted, config);
    if (wanted !== undefined && action === 'enable') requireNoOther(name, wanted, config);
    const others = action === 'enable' ? disablingFiles(name, config) : [];
    const files = others.length > 0 ? others : [decidingFile(name, own, config)];
    return (wanted === undefined ? files : [wanted]).map((file) => ({ name, file }));
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

type Layer = LoadedConfig['layers'][number];
type Entry = Readonly<Record<string, unknown>>;

/** The files from that of the server upwards that enable or disable it, with their entries, lowest precedence first. */
function switchingFiles(
  name: string,
  own: string | undefined,
  { layers }: LoadedConfig,
): Array<Pick<Layer, 'layer'> & { entry: Entry }> {
  return layers
    .slice(layers.findIndex(({ layer }) => layer.file === own))
    .filter(({ layer }) => layer.scope !== 'managed')
    .flatMap(({ layer, servers }) => {
      const entry = servers.find((server) => server.name === name)?.entry;
      return hasSwitch(entry) ? [{ layer, entry }] : [];
    });
}

/** The highest-priority file that enables or disables the server; else the one that defines it. */
const decidingFile = (name: string, own: string, config: LoadedConfig): string =>
  switchingFiles(name, own, config).at(-1)?.layer.file ?? own;

const hasSwitch = (entry: unknown): entry is Entry =>
  typeof entry === 'object' && entry !== null && ('enabled' in entry || 'disabled' in entry);

const isOfProject = (scope: string | undefined): boolean => scope === 'project' || scope === 'local';

/**
 * The files that have to enable a server that is not the project's: a project's file can disable it, and cannot enable
 * it where another one disables it.
 */
function disablingFiles(name: string, config: LoadedConfig): string[] {
  const origin = config.servers.get(name)?.origin;
  if (isOfProject(origin?.scope)) return [];
  const switching = switchingFiles(name, origin?.file, config);
  const base = switching.findLastIndex(({ layer }) => !isOfProject(layer.scope));
  return switching
    .slice(Math.max(base, 0))
    .filter(({ entry }) => entry.enabled === false)
    .map(({ layer }) => layer.file);
}

/** A file of the project that enables what another file disables would have no effect. */
function requireNoOther(name: string, file: string, config: LoadedConfig): void {
  const scope = config.layers.find(({ layer }) => layer.file === file)?.layer.scope ?? 'project';
  const other = isOfProject(scope) && disablingFiles(name, config).find((one) => one !== file);
  if (typeof other !== 'string') return;
  throw new TurnbuckleError(
    'ARGUMENTS_INVALID',
    `Server "${name}" is disabled in ${other}. A project's file cannot enable it.`,
    { server: name, hint: `Omit --scope: turnbuckle enable ${shellQuote(name)}` },
  );
}

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
