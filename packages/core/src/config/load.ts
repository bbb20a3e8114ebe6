/**
 * All layers together: which servers there are, which file each comes from and what it shadows, what may be
 * started, and everything that is wrong, each with its place. One broken file or server never takes the
 * rest down.
 */
import { isRecord } from '../is-record.js';
import { inSlices, type Steps } from '../json/slices.js';
import { adjust, isAdjustment } from './adjust.js';
import { type EnvironmentSettings, environmentSettings } from './environment-settings.js';
import { faultError } from './file-fault.js';
import type { FileSettings, SettingName } from './file-schema.js';
import { type Agreements, guard } from './guard.js';
import { existing, keepLayer, keepServer } from './keep-last.js';
import { findLayers, isOfProject, type Layer, type LayerPlace, projectPlaces, userFile } from './layers.js';
import { type ConfiguredServer, isUsable, type LoadedConfig, type Origin } from './loaded-config.js';
import type { ParsedServers } from './parse.js';
import { type ParsedEntry, parseEntry } from './parse-entry.js';
import { type ReadLayer, readLayer } from './read-layer.js';
import type { WrittenServer } from './read-servers.js';
import type { FlowMode, PlacedRule } from './rule-schema.js';
import { defaultsUsed } from './trust.js';
import { viewProblems } from './view-servers.js';

export interface LoadOptions extends Omit<LayerPlace, 'exists'> {
  /** Servers named on the command line, as entries. */
  readonly extra?: ReadonlyMap<string, Readonly<Record<string, unknown>>> | undefined;
  /** Servers that there are as long as no file has one of their names, as entries. */
  readonly usual?: LoadOptions['extra'];
  readonly trust: Agreements;
  /** The user said yes to all of the project's servers for this run. */
  readonly trustProject?: boolean | undefined;
  /** What was loaded before: what has become unusable goes on as it was. */
  readonly previous?: LoadedConfig | undefined;
}

/** Never rejects. */
export async function loadConfig(options: LoadOptions): Promise<LoadedConfig> {
  const { previous, environment, trust, trustProject } = options;
  const there = await existing(projectPlaces(options), previous);
  const found = findLayers({ ...options, exists: (path) => there.has(path) });
  const layers = await Promise.all(found.map(async (layer) => keepLayer(await readLayer(layer), previous)));
  const servers = new Map<string, ConfiguredServer>();
  const isManaged = ({ layer }: ReadLayer): boolean => layer.scope === 'managed';
  const [own, managed] = [layers.filter((one) => !isManaged(one)), layers.filter(isManaged)];
  const { usual, extra } = options;
  const all = [namedServers(usual, options), ...own, namedServers(extra, options), ...managed];
  await inSlices(placeAll(servers, all));
  for (const [name, server] of servers) servers.set(name, keepServer(server, previous?.servers.get(name)));
  const variables = environmentSettings(environment);
  const { settings, settingOrigins } = mergeSettings([
    ...own.map(settingsOf),
    variables,
    ...managed.map(settingsOf),
  ]);
  const told = await guard(servers, { layers, settings, trust, trustProject, userFile: userFile(options) });
  return {
    servers,
    settings,
    settingOrigins,
    rules: inOrder(layers),
    problems: [
      ...layers.flatMap((read) => read.problems),
      ...variables.problems,
      ...viewProblems(layers, settings, servers),
      ...told,
    ],
    layers,
    parsed: toParsed(servers),
  };
}

const NOWHERE = { line: 0, column: 0 };

interface Written {
  readonly layer: Layer;
  readonly servers: readonly WrittenServer[];
  readonly settings: Partial<FileSettings>;
}

/** What was named on the command line, as a layer. */
function namedServers(named: LoadOptions['extra'], { cwd }: LoadOptions): Written {
  return {
    layer: { scope: 'flags', file: 'the command line', required: true, directory: cwd },
    settings: {},
    servers: [...(named ?? [])].map(([name, entry]) => ({
      name,
      entry,
      path: name,
      place: NOWHERE,
      placeOf: () => NOWHERE,
    })),
  };
}

/** To find out what is wrong with hundreds of servers, and what may have been meant, takes long. */
function* placeAll(servers: Map<string, ConfiguredServer>, all: readonly Written[]): Steps<void> {
  for (const read of all)
    for (const written of read.servers) {
      place(servers, read, written);
      yield;
    }
}

function place(
  servers: Map<string, ConfiguredServer>,
  { layer, settings }: Written,
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
    ...(isOrphan(entry)
      ? orphaned({ written, layer })
      : parseEntry({ written, layer, entry, scope: layer.scope })),
    kept: false,
    origin: { scope: layer.scope, file: layer.file, ...written.place },
    shadowed: before === undefined ? [] : [before.origin, ...before.shadowed],
    directory: layer.directory,
    inputs: settings.inputs ?? [],
  });
}

/** It adjusts a server, and there is none: somebody took that out of another file. */
const isOrphan = (entry: unknown): boolean => isAdjustment(entry) && Object.keys(entry).length > 0;

function orphaned({ written, layer }: { written: WrittenServer; layer: Layer }): ParsedEntry {
  const { name, path } = written;
  const text = `adjusts the server "${name}", which no file defines (any more)`;
  const hint = `Take the entry out: turnbuckle remove ${name}. Or give it a "command" or a "url".`;
  const problem = faultError(layer.file, { ...written.placeOf([]), path, text }, { server: name, hint });
  return { config: undefined, problem };
}

/** Files of a project may only raise the guard, so they come last: whose machine it is has the first word. */
function inOrder(layers: readonly ReadLayer[]): readonly PlacedRule[] {
  const isProject = ({ layer }: ReadLayer): boolean => isOfProject(layer.scope);
  const weakest = [...layers.filter(isProject), ...layers.filter((one) => !isProject(one))];
  return weakest.reverse().flatMap(({ rules }) => rules);
}

type SettingSource = Pick<EnvironmentSettings, 'settings' | 'origins'>;

function settingsOf({ settings, settingPlaces, layer }: ReadLayer): SettingSource {
  const origins = [...settingPlaces].map(
    ([key, at]) => [key, { scope: layer.scope, file: layer.file, ...at }] as const,
  );
  return { settings, origins: new Map(origins) };
}

function mergeSettings(sources: readonly SettingSource[]) {
  const settings: Partial<FileSettings> = {};
  const settingOrigins = new Map<SettingName, Origin>();
  for (const { settings: own, origins } of sources) {
    for (const [key, origin] of origins) {
      if (key === 'flows' && isOfProject(origin.scope) && !isTighter(own.flows, settings.flows)) continue;
      Object.assign(settings, { [key]: own[key] });
      settingOrigins.set(key, origin);
    }
  }
  return { settings, settingOrigins };
}

const TIGHTNESS: readonly FlowMode[] = ['off', 'ask', 'deny'];

const isTighter = (one: FlowMode = 'ask', other: FlowMode = 'ask'): boolean =>
  TIGHTNESS.indexOf(one) > TIGHTNESS.indexOf(other);

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
  return { servers: new Map(usable), problems: new Map(wrong), surroundings: new Map(surroundings) };
}
