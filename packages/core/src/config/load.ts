/**
 * All layers together: which servers there are, which file each comes from and what it shadows, what may be
 * started, and everything that is wrong, each with its place. One broken file or server never takes the
 * rest down.
 */
import { existsSync } from 'node:fs';
import { TurnbuckleError } from '../errors.js';
import { isRecord } from '../is-record.js';
import { adjust, isAdjustment } from './adjust.js';
import type { FileSettings, InputDeclaration, SettingName } from './file-schema.js';
import { findLayers, isOfProject, type LayerPlace, type LayerScope } from './layers.js';
import type { ParsedServers } from './parse.js';
import { parseEntry } from './parse-entry.js';
import { type ReadLayer, readLayer, type WrittenServer } from './read-layer.js';
import type { ServerConfig } from './schema.js';
import { type TrustStore, trustRequired } from './trust.js';

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
  /** The inputs that its own file declares: another file has no say in them. */
  readonly inputs: readonly InputDeclaration[];
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
  const isManaged = ({ layer }: ReadLayer): boolean => layer.scope === 'managed';
  const named = namedServers(options);
  for (const read of [...layers.filter((one) => !isManaged(one)), named, ...layers.filter(isManaged)])
    for (const written of read.servers) place(servers, read, written);
  const { settings, settingOrigins } = mergeSettings(layers);
  await guard(servers, { ...options, layers }, settings);
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

/** What was named on the command line, as a layer: above all files but the administrator's. */
function namedServers({ extra, cwd }: LoadOptions): Pick<ReadLayer, 'layer' | 'servers' | 'settings'> {
  return {
    layer: { scope: 'flags', file: 'the command line', required: true, directory: cwd },
    settings: {},
    servers: [...(extra ?? [])].map(([name, entry]) => ({
      name,
      entry,
      path: name,
      place: NOWHERE,
      placeOf: () => NOWHERE,
    })),
  };
}

function keepLast(read: ReadLayer, previous: LoadedConfig | undefined): ReadLayer {
  const before = previous?.layers.find(({ layer }) => layer.file === read.layer.file);
  if (!read.unusable || before === undefined) return read;
  return { ...read, servers: before.servers, settings: before.settings };
}

function place(
  servers: Map<string, ConfiguredServer>,
  { layer, settings }: Pick<ReadLayer, 'layer' | 'settings'>,
  written: WrittenServer,
): void {
  const { name, entry } = written;
  const before = servers.get(name);
  if (before !== undefined && isAdjustment(entry)) {
    const narrowing = isOfProject(layer.scope) && !isOfProject(before.origin.scope);
    const adjusted = adjust(before.entry, entry, { narrowing });
    const parsed = parseEntry({ written, layer, entry: adjusted, scope: before.origin.scope });
    // What was wrong before is not this file's doing.
    const problem = parsed.problem === undefined ? undefined : (before.problem ?? parsed.problem);
    servers.set(name, { ...before, ...parsed, problem, entry: adjusted });
    return;
  }
  servers.set(name, {
    name,
    entry: isRecord(entry) ? entry : {},
    ...parseEntry({ written, layer, entry, scope: layer.scope }),
    origin: { scope: layer.scope, file: layer.file, line: written.place.line },
    shadowed: before === undefined ? [] : [before.origin, ...before.shadowed],
    directory: layer.directory,
    inputs: settings.inputs ?? [],
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
  options: LoadOptions & { readonly layers: readonly ReadLayer[] },
  settings: Partial<FileSettings>,
): Promise<void> {
  const broken = options.layers.find(isBrokenManaged);
  for (const [name, server] of servers) {
    if (server.config === undefined) continue;
    const forbidden = isForbidden(name, settings);
    const { scope, file } = server.origin;
    const agreed =
      !isOfProject(scope) || options.trustProject === true || (await options.trust.isTrusted(server));
    if (broken !== undefined)
      servers.set(name, { ...server, problem: unknownRules(name, broken.layer.file) });
    else if (forbidden) servers.set(name, { ...server, problem: forbiddenError(name) });
    else if (!agreed) servers.set(name, { ...server, problem: trustRequired(server, file) });
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

/** What the administrator forbids cannot be told: then nothing is allowed. */
const isBrokenManaged = ({ layer, unusable, settings }: ReadLayer): boolean =>
  layer.scope === 'managed' && unusable && Object.keys(settings).length === 0;

function unknownRules(server: string, file: string): TurnbuckleError {
  return new TurnbuckleError(
    'CALL_DENIED',
    `Server "${server}" is not used: the administrator's file ${file} cannot be read.`,
    {
      server,
      hint: 'It may forbid servers. The administrator of this machine has to repair it.',
    },
  );
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
