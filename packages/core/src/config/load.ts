/**
 * Combines all layers: which servers exist, which file each comes from and what it overrides, what may be started,
 * and all problems with their positions. An invalid file or server never affects the rest.
 */
import { isRecord } from '../json/is-record.js';
import { inSlices, type Steps } from '../json/slices.js';
import { shellQuote } from '../text/shell-quote.js';
import { type Agreements, guardServers } from './guard.js';
import { adjust, isAdjustment, narrow } from './layers/adjust.js';
import { type EnvironmentSettings, environmentSettings } from './layers/environment-settings.js';
import { faultError } from './layers/file-errors.js';
import {
  findLayers,
  isProjectScope,
  type Layer,
  type LayerContext,
  projectCandidates,
  userFile,
} from './layers/layers.js';
import { type ConfiguredServer, isUsable, type LoadedConfig, type Origin } from './layers/loaded-config.js';
import type { ParsedServers } from './layers/parse.js';
import { type ParsedEntry, parseEntry } from './layers/parse-entry.js';
import { type ReadLayer, readLayer } from './layers/read-layer.js';
import type { WrittenServer } from './layers/read-servers.js';
import { existingPaths, retainLayer, retainServer } from './layers/retain-previous.js';
import { mergeDefaults } from './layers/server-defaults.js';
import { viewProblems } from './layers/view-problems.js';
import type { FileSettings, SettingName } from './schema/file-schema.js';
import type { PlacedRule } from './schema/rule-schema.js';
import type { ServerDefaults } from './schema/schema.js';
import { defaultsUsed } from './trust/trust.js';

export interface LoadOptions extends Omit<LayerContext, 'exists'> {
  /** Servers from the command line, as entries. */
  readonly extra?: ReadonlyMap<string, Readonly<Record<string, unknown>>> | undefined;
  /** Default servers, used unless a file has one of the same name, as entries. */
  readonly fallbackServers?: LoadOptions['extra'];
  /** Settings of the program: above those of all files but the managed one. */
  readonly settings?: Pick<FileSettings, 'defaults' | 'limits'> | undefined;
  readonly trust: Agreements;
  /** The user agreed to all project servers for this run. */
  readonly trustProject?: boolean | undefined;
  /** The previously loaded configuration: invalid parts keep their previous value. */
  readonly previous?: LoadedConfig | undefined;
}

/** Never rejects. */
export async function loadConfig(options: LoadOptions): Promise<LoadedConfig> {
  const { previous, environment, trust, trustProject } = options;
  const there = await existingPaths(projectCandidates(options), previous);
  const found = findLayers({ ...options, exists: (path) => there.has(path) });
  const layers = await Promise.all(found.map(async (layer) => retainLayer(await readLayer(layer), previous)));
  const servers = new Map<string, ConfiguredServer>();
  const isManaged = ({ layer }: ReadLayer): boolean => layer.scope === 'managed';
  const [own, managed] = [layers.filter((one) => !isManaged(one)), layers.filter(isManaged)];
  const { fallbackServers, extra } = options;
  const all = [toLayer(fallbackServers, options), ...own, toLayer(extra, options), ...managed];
  const variables = environmentSettings(environment);
  const { settings, settingOrigins } = mergeSettings([
    ...own.map(settingsOf),
    variables,
    programSettings(options),
    ...managed.map(settingsOf),
  ]);
  await inSlices(addServers(servers, all, settings.defaults));
  for (const [name, server] of servers) servers.set(name, retainServer(server, previous?.servers.get(name)));
  const warnings = await guardServers(servers, {
    layers,
    settings,
    trust,
    trustProject,
    userFile: userFile(options),
  });
  return {
    servers,
    settings,
    settingOrigins,
    rules: rulesInOrder(layers),
    problems: [
      ...layers.flatMap((read) => read.problems),
      ...variables.problems,
      ...viewProblems(layers, settings, servers),
      ...warnings,
    ],
    layers,
    parsed: toParsed(servers),
  };
}

const NO_POSITION = { line: 0, column: 0 };

interface LayerServers {
  readonly layer: Layer;
  readonly servers: readonly WrittenServer[];
  readonly settings: Partial<FileSettings>;
}

/** The command line as a layer. */
function toLayer(named: LoadOptions['extra'], { cwd }: LoadOptions): LayerServers {
  return {
    layer: { scope: 'flags', file: 'the command line', required: true, directory: cwd },
    settings: {},
    servers: [...(named ?? [])].map(([name, entry]) => ({
      name,
      entry,
      path: name,
      position: NO_POSITION,
      positionOf: () => NO_POSITION,
    })),
  };
}

/** Describing problems of hundreds of servers, with suggestions, takes long. */
function* addServers(
  servers: Map<string, ConfiguredServer>,
  all: readonly LayerServers[],
  defaults: ServerDefaults | undefined,
): Steps<void> {
  for (const { layer, settings, servers: listed } of all)
    for (const written of listed) {
      addServer(servers, { layer, written, defaults, inputs: settings.inputs ?? [] });
      yield;
    }
}

interface PlacedServer extends Pick<ConfiguredServer, 'inputs'> {
  readonly layer: Layer;
  readonly written: WrittenServer;
  readonly defaults: ServerDefaults | undefined;
}

function addServer(
  servers: Map<string, ConfiguredServer>,
  { layer, written, defaults, inputs }: PlacedServer,
): void {
  const { name, entry } = written;
  const before = servers.get(name);
  if (before !== undefined && isAdjustment(entry)) {
    const narrowing = isProjectScope(layer.scope) && !isProjectScope(before.origin.scope);
    // A project does not mend an entry that is not its own.
    if (narrowing && before.config === undefined) return;
    const adjusted =
      narrowing && before.config ? narrow(before.entry, entry, before.config) : adjust(before.entry, entry);
    const parsed = parseEntry({ written, layer, entry: adjusted, scope: before.origin.scope, defaults });
    // If it is not valid, what was in effect before stays: that may have been enabled.
    if (narrowing && parsed.config === undefined && before.config?.enabled === false) return;
    // Earlier problems are not caused by this file.
    const problem = parsed.problem === undefined ? undefined : (before.problem ?? parsed.problem);
    servers.set(name, { ...before, ...parsed, problem, entry: adjusted });
    return;
  }
  servers.set(name, {
    name,
    entry: isRecord(entry) ? entry : {},
    ...(isOrphan(entry)
      ? orphanedEntry({ written, layer })
      : parseEntry({ written, layer, entry, scope: layer.scope, defaults })),
    kept: false,
    origin: { scope: layer.scope, file: layer.file, ...written.position },
    shadowed: before === undefined ? [] : [before.origin, ...before.shadowed],
    directory: layer.directory,
    inputs,
  });
}

/** An override for a server that another file no longer defines. */
const isOrphan = (entry: unknown): boolean => isAdjustment(entry) && Object.keys(entry).length > 0;

function orphanedEntry({ written, layer }: { written: WrittenServer; layer: Layer }): ParsedEntry {
  const { name, path } = written;
  const text = `the entry overrides settings for server "${name}", but no file defines that server`;
  const hint = `Add a "command" or a "url" to the entry, or remove the entry: turnbuckle remove ${shellQuote(name)}`;
  const problem = faultError(layer.file, { ...written.positionOf([]), path, text }, { server: name, hint });
  return { config: undefined, problem };
}

/** Project rules can only restrict, so they come last: the user's rules take precedence. */
function rulesInOrder(layers: readonly ReadLayer[]): readonly PlacedRule[] {
  const isProject = ({ layer }: ReadLayer): boolean => isProjectScope(layer.scope);
  const weakest = [...layers.filter(isProject), ...layers.filter((one) => !isProject(one))];
  return weakest.reverse().flatMap(({ rules }) => rules);
}

type SettingSource = Pick<EnvironmentSettings, 'settings' | 'origins'>;

function settingsOf({ settings, settingPositions, layer }: ReadLayer): SettingSource {
  const origins = [...settingPositions].map(
    ([key, at]) => [key, { scope: layer.scope, file: layer.file, ...at }] as const,
  );
  return { settings, origins: new Map(origins) };
}

/** The budgets of all files apply: a call must be within each of them. */
function mergeEnergy(before: FileSettings['energy'], own: FileSettings['energy']): FileSettings['energy'] {
  const budgets = [...(before?.budgets ?? []), ...(own?.budgets ?? [])];
  return { ...before, ...own, ...(budgets.length > 0 && { budgets }) };
}

function programSettings({ settings = {} }: LoadOptions): SettingSource {
  const origin: Origin = { scope: 'flags', file: 'the host program', ...NO_POSITION };
  const given = (['defaults', 'limits'] as const).filter((key) => settings[key] !== undefined);
  return { settings, origins: new Map(given.map((key) => [key, origin])) };
}

function mergeSettings(sources: readonly SettingSource[]) {
  const settings: Partial<FileSettings> = {};
  const settingOrigins = new Map<SettingName, Origin>();
  for (const { settings: own, origins } of sources) {
    for (const [key, origin] of origins) {
      if (isProjectScope(origin.scope) && !mayProjectSet(key, own[key], settings[key])) continue;
      // The keys of these have precedence one by one.
      if (key === 'limits') settings.limits = { ...settings.limits, ...own.limits };
      else if (key === 'energy') settings.energy = mergeEnergy(settings.energy, own.energy);
      else if (key === 'defaults') settings.defaults = mergeDefaults(settings.defaults, own.defaults);
      else Object.assign(settings, { [key]: own[key] });
      settingOrigins.set(key, origin);
    }
  }
  return { settings, settingOrigins };
}

/** What a project can only make stricter: the values from the least strict on, and the usual one. */
const STRICTNESS: Partial<Record<SettingName, readonly [values: readonly unknown[], usual: unknown]>> = {
  flows: [['off', 'ask', 'deny'], 'ask'],
  subAgentEnabled: [[true, false], true],
  toolApprovalRequired: [[false, true], undefined],
  autoDiscoveryEnabled: [[true, false], undefined],
};

function mayProjectSet(key: SettingName, value: unknown, before: unknown): boolean {
  const [values, usual] = STRICTNESS[key] ?? [];
  return values === undefined || values.indexOf(value) > values.indexOf(before ?? usual);
}

function toParsed(servers: ReadonlyMap<string, ConfiguredServer>): ParsedServers {
  const all = [...servers.values()];
  const usable = all.flatMap((server) =>
    isUsable(server) && server.config !== undefined ? [[server.name, server.config] as const] : [],
  );
  const wrong = all.flatMap(({ name, problem }) => (problem === undefined ? [] : [[name, problem] as const]));
  const surroundings = all.map((server) => {
    const { name, entry, inputs, directory } = server;
    const used = inputs.length === 0 ? [] : defaultsUsed(JSON.stringify(entry), inputs);
    return [name, JSON.stringify([directory, used.map((one) => [one.id, one.default])])] as const;
  });
  return {
    servers: new Map(usable),
    problems: new Map(wrong),
    contextKeys: new Map(surroundings),
    isFromFiles: true,
  };
}
