/**
 * All layers together: which servers there are, which file each comes from and what it shadows, what may be
 * started, and everything that is wrong, each with its place. One broken file or server never takes the
 * rest down.
 */
import { existsSync } from 'node:fs';
import { TurnbuckleError } from '../errors.js';
import { isRecord } from '../is-record.js';
import type { FileSettings, SettingName } from './file-schema.js';
import { findLayers, type Layer, type LayerPlace, type LayerScope } from './layers.js';
import { type ConfigFault, type ParsedServers, parseServer } from './parse.js';
import { faultError, type ReadLayer, readLayer, type WrittenServer } from './read-layer.js';
import type { ServerConfig } from './schema.js';
import { type TrustStore, type TrustSubject, trustRequired } from './trust.js';

export interface Origin {
  readonly scope: LayerScope;
  readonly file: string;
  readonly line: number;
}

export interface ConfiguredServer {
  readonly name: string;
  /** As written: placeholders are not filled in. */
  readonly entry: Readonly<Record<string, unknown>>;
  readonly config: ServerConfig | undefined;
  readonly origin: Origin;
  /** Where it is written too, without effect; the strongest first. */
  readonly shadowed: readonly Origin[];
  /** Why it is not used. */
  readonly problem: TurnbuckleError | undefined;
  /** The directory that its relative paths mean. */
  readonly directory: string;
}

export interface LoadedConfig {
  readonly servers: ReadonlyMap<string, ConfiguredServer>;
  readonly settings: Readonly<Partial<FileSettings>>;
  readonly settingOrigins: ReadonlyMap<SettingName, Origin>;
  /** Problems of files and settings; those of servers are with them. */
  readonly problems: readonly TurnbuckleError[];
  readonly layers: readonly ReadLayer[];
  /** What a runtime takes: the servers that can be used, and why the others cannot. */
  readonly parsed: ParsedServers;
}

export interface LoadOptions extends Omit<LayerPlace, 'exists'> {
  /** Servers named on the command line, as entries. */
  readonly extra?: ReadonlyMap<string, Readonly<Record<string, unknown>>> | undefined;
  readonly trust: Pick<TrustStore, 'isTrusted'>;
  /** The user said yes to all of the project's servers for this run. */
  readonly trustProject?: boolean | undefined;
  /** What was loaded before: a file that has become unusable keeps what it said last. */
  readonly previous?: LoadedConfig | undefined;
}

/** Never rejects. */
export async function loadConfig(options: LoadOptions): Promise<LoadedConfig> {
  const found = findLayers({ ...options, exists: existsSync });
  const layers = await Promise.all(
    found.map(async (layer) => keepLast(await readLayer(layer), options.previous)),
  );
  const servers = new Map<string, ConfiguredServer>();
  for (const read of layers) for (const written of read.servers) place(servers, read.layer, written);
  for (const [name, entry] of options.extra ?? [])
    place(servers, FLAG_LAYER, { name, entry, place: NOWHERE, placeOf: () => NOWHERE });
  const { settings, settingOrigins } = mergeSettings(layers);
  await guard(servers, options, settings);
  return {
    servers,
    settings,
    settingOrigins,
    problems: layers.flatMap((read) => read.problems),
    layers,
    parsed: toParsed(servers),
  };
}

const NOWHERE = { line: 0, column: 0 };
const FLAG_LAYER: Layer = { scope: 'flags', file: 'the command line', required: true, directory: '' };

function keepLast(read: ReadLayer, previous: LoadedConfig | undefined): ReadLayer {
  const before = previous?.layers.find(({ layer }) => layer.file === read.layer.file);
  if (!read.unusable || before === undefined || before.servers.length === 0) return read;
  return { ...read, servers: before.servers, settings: before.settings };
}

/** Keys by which a stronger file may adjust a server of a weaker one without writing all of it again. */
const ADJUSTABLE = new Set([
  'enabled',
  'start',
  'description',
  'includeTools',
  'excludeTools',
  'connectTimeoutMs',
  'listTimeoutMs',
  'callTimeoutMs',
  'maxCallMs',
  'maxInFlight',
  'pingMs',
  'reconnect',
  'requires',
]);
/** Keys by which an entry says what to run or contact. */
const TRANSPORT = ['type', 'command', 'url', 'baseUrl', 'server'];
/** Keys that lower a guard: not for a project to set. */
const PRIVILEGED = ['trusted', 'scope', 'inheritEnv'];

function place(servers: Map<string, ConfiguredServer>, layer: Layer, written: WrittenServer): void {
  const { name, entry } = written;
  const before = servers.get(name);
  const origin: Origin = { scope: layer.scope, file: layer.file, line: written.place.line };
  if (before !== undefined && isRecord(entry) && isAdjustment(entry)) {
    const adjusted = { ...before.entry, ...entry };
    servers.set(name, {
      ...before,
      ...parse(name, adjusted, before.origin.scope, { written, layer }),
      entry: adjusted,
    });
    return;
  }
  servers.set(name, {
    name,
    entry: isRecord(entry) ? entry : {},
    ...parse(name, entry, layer.scope, { written, layer }),
    origin,
    shadowed: before === undefined ? [] : [before.origin, ...before.shadowed],
    directory: layer.directory,
  });
}

const isAdjustment = (entry: Record<string, unknown>): boolean =>
  !TRANSPORT.some((key) => key in entry) && Object.keys(entry).every((key) => ADJUSTABLE.has(key));

function parse(
  name: string,
  entry: unknown,
  scope: LayerScope,
  { written, layer }: { written: WrittenServer; layer: Layer },
): Pick<ConfiguredServer, 'config' | 'problem'> {
  try {
    const forbidden =
      scope === 'project' || scope === 'local'
        ? PRIVILEGED.find((key) => isRecord(entry) && key in entry)
        : undefined;
    if (forbidden !== undefined) {
      const fault = {
        ...written.placeOf([forbidden]),
        path: `servers.${name}.${forbidden}`,
        text: `"${forbidden}" may not be set by a project's file`,
      };
      return { config: undefined, problem: faultError(layer.file, fault, name) };
    }
    const config = parseServer(name, entry);
    return { config: { ...config, scope: publicScope(scope, config) }, problem: undefined };
  } catch (error) {
    if (!(error instanceof TurnbuckleError)) throw error;
    return { config: undefined, problem: placed(error, name, { written, layer }) };
  }
}

function publicScope(scope: LayerScope, config: ServerConfig): ServerConfig['scope'] {
  if (config.type === 'proxy') return 'claudeai';
  return scope === 'environment' || scope === 'flags' ? 'user' : scope;
}

/** The error of the parser, with the place of its first fault in the file. */
function placed(
  error: TurnbuckleError,
  name: string,
  { written, layer }: { written: WrittenServer; layer: Layer },
): TurnbuckleError {
  const faults = (error.data?.problems ?? []) as readonly ConfigFault[];
  const [first] = faults;
  const at = written.placeOf(first?.keys ?? []);
  const text = faults.map((fault) => `${fault.path}: ${fault.text}`).join('; ');
  const problem = faultError(layer.file, { ...at, path: '', text }, name);
  return new TurnbuckleError('CONFIG_INVALID', problem.message, {
    ...problem,
    data: { ...problem.data, problems: faults },
  });
}

function mergeSettings(layers: readonly ReadLayer[]) {
  const settings: Partial<FileSettings> = {};
  const settingOrigins = new Map<SettingName, Origin>();
  for (const { settings: own, layer } of layers) {
    for (const key of Object.keys(own) as (keyof FileSettings)[]) {
      if (key === '$schema') continue;
      Object.assign(settings, { [key]: own[key] });
      settingOrigins.set(key, { scope: layer.scope, file: layer.file, line: 1 });
    }
  }
  return { settings, settingOrigins };
}

/** Takes out what the administrator forbids, and what a project brings along and nobody agreed to. */
async function guard(
  servers: Map<string, ConfiguredServer>,
  options: LoadOptions,
  settings: Partial<FileSettings>,
): Promise<void> {
  for (const [name, server] of servers) {
    if (server.config === undefined) continue;
    const forbidden = isForbidden(name, settings);
    const { scope, file } = server.origin;
    const subject: TrustSubject = { name, directory: server.directory, entry: server.entry };
    const agreed =
      (scope !== 'project' && scope !== 'local') ||
      options.trustProject === true ||
      (await options.trust.isTrusted(subject));
    if (forbidden) servers.set(name, { ...server, problem: forbiddenError(name) });
    else if (!agreed) servers.set(name, { ...server, problem: trustRequired(subject, file) });
  }
}

function isForbidden(name: string, { forbid = [], allowOnly }: Partial<FileSettings>): boolean {
  const matches = (pattern: string): boolean =>
    new RegExp(
      `^${pattern
        .split('*')
        .map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
        .join('.*')}$`,
      's',
    ).test(name);
  return forbid.some(matches) || (allowOnly !== undefined && !allowOnly.some(matches));
}

function forbiddenError(server: string): TurnbuckleError {
  return new TurnbuckleError(
    'CALL_DENIED',
    `Server "${server}" is forbidden by the administrator of this machine.`,
    { server },
  );
}

function toParsed(servers: ReadonlyMap<string, ConfiguredServer>): ParsedServers {
  const usable = [...servers.values()].flatMap(({ name, config, problem }) =>
    config !== undefined && problem === undefined ? [[name, config] as const] : [],
  );
  const refused = [...servers.values()].flatMap(({ name, problem }) =>
    problem === undefined ? [] : [[name, problem] as const],
  );
  return { servers: new Map(usable), problems: new Map(refused) };
}
