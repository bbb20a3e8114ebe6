/**
 * A runtime from configuration files. Placeholders are filled in when a server connects, and the running servers
 * follow changes of the files.
 */
import { resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { createSerialQueue } from '../async/serial-queue.js';
import type { VaultLike } from '../auth/sign-in-store.js';
import type { FillInSource } from '../config/fill-in.js';
import {
  type LayerContext,
  possibleProjectFiles,
  projectCandidates,
  userFile,
} from '../config/layers/layers.js';
import { isSameConfig, type LoadedConfig } from '../config/layers/loaded-config.js';
import type { ParsedServers } from '../config/layers/parse.js';
import type { ReadLayer } from '../config/layers/read-layer.js';
import { parseRules } from '../config/layers/read-rules.js';
import { areMissing, existingPaths } from '../config/layers/retain-previous.js';
import { type LoadOptions, loadConfig } from '../config/load.js';
import type { PlacedRule } from '../config/schema/rule-schema.js';
import { TrustStore } from '../config/trust/trust.js';
import type { EnergyOptions } from '../energy/energy.js';
import { TurnbuckleError } from '../errors.js';
import { homeDirectory } from '../files/home-directory.js';
import { defaultStateDirectory } from '../files/state-directory.js';
import { watchFiles } from '../files/watch-files.js';
import { isSameJson } from '../json/same-json.js';
import type { RuntimeLimits } from '../servers/limits.js';
import type { SetServersResult } from '../servers/server-set.js';
import type { ClientTelemetry } from '../telemetry/client-telemetry.js';
import { createRuntime } from './create.js';
import type { RuntimeOptions } from './options.js';
import { type ResourceToolPlace, setResourceTools } from './resource-tools.js';
import type { Runtime } from './runtime.js';
import { createServerValues } from './server-values.js';

/** A file that is being replaced is missing for a moment: it counts as deleted only after this time. */
const MISSING_FILE_GRACE_MS = 1_500;
const MISSING_FILE_POLL_MS = 50;

export interface ConfiguredOptions extends Omit<RuntimeOptions, 'servers' | 'resolve'> {
  readonly cwd?: string | undefined;
  /** Configuration files that take precedence over the others. */
  readonly files?: readonly string[] | undefined;
  /** Servers in addition to those of the files, by name. */
  readonly extra?: LoadOptions['extra'];
  /** Default servers, used unless a file has a server of the same name. */
  readonly usual?: LoadOptions['fallbackServers'];
  readonly trustProject?: boolean | undefined;
  /** The naming preset if neither `naming` nor a file sets one. */
  readonly usualNaming?: RuntimeOptions['naming'];
  /** For a daemon: how long an agent's call waits for approval if its settings do not say. */
  readonly usualApprovalWaitMs?: number | undefined;
  /** Prompts for an `${input:id}`; absent: only environment variables. */
  readonly askInput?: FillInSource['askInput'];
  /** For a process that serves others: errors say what is missing for it, and how it is restarted. */
  readonly service?: FillInSource['service'];
  /** Creates the telemetry from the settings of the files; without a result, there is none. */
  readonly createTelemetry?:
    | ((settings: LoadedConfig['settings']) => ClientTelemetry | undefined)
    | undefined;
}

/** The outcome of a reload. */
export interface Reload extends SetServersResult {
  readonly config: LoadedConfig;
}

export interface ConfiguredRuntime {
  readonly runtime: Runtime;
  /** The configuration in effect. */
  readonly config: () => LoadedConfig;
  readonly trust: TrustStore;
  /** Resolves when the secrets of all servers are known that can be read without asking anybody. Never rejects. */
  secretsLearned(): Promise<void>;
  /**
   * Another runtime for the same agents, with servers that are not in a file. It has the same options, rules, secrets
   * and approvers.
   */
  createInlineRuntime(limits?: Partial<RuntimeLimits>): Promise<Runtime>;
  /** Reloads the files and applies the changes. */
  reload(): Promise<Reload>;
  /** Watches the files from now on; returns a function that stops it. */
  follow(onReload: (reload: Reload) => void): Promise<() => Promise<void>>;
}

/** Finds and loads the configuration for a directory. Never rejects; problems are part of the result. */
export function loadConfiguration(
  options: ConfiguredOptions = {},
  previous?: LoadedConfig,
): Promise<LoadedConfig> {
  const place = layerContextOf(options);
  return loadConfig({
    ...place,
    extra: options.extra,
    fallbackServers: options.usual,
    settings: { defaults: options.defaults, limits: options.limits },
    trust: trustOf(options),
    trustProject: options.trustProject,
    previous,
  });
}

const trustOf = ({ stateDir, environment = process.env }: ConfiguredOptions): TrustStore =>
  new TrustStore(stateDir ?? defaultStateDirectory(environment), Date.now, environment);

function layerContextOf({
  cwd,
  environment = process.env,
  files,
}: ConfiguredOptions): Omit<LayerContext, 'exists'> {
  return {
    cwd: resolve(cwd ?? process.cwd()),
    home: homeDirectory(environment),
    platform: process.platform,
    environment,
    files,
  };
}

async function possibleFiles(place: Omit<LayerContext, 'exists'>): Promise<string[]> {
  const there = await existingPaths(projectCandidates(place), undefined);
  return possibleProjectFiles({ ...place, exists: (path) => there.has(path) });
}

async function filesOf({ layers }: LoadedConfig, options: ConfiguredOptions): Promise<string[]> {
  return [...layers.map(({ layer }) => layer.file), ...(await possibleFiles(layerContextOf(options)))];
}

/** Creates a runtime for the configuration of a directory. Connects nothing yet. */
export async function createConfiguredRuntime(given: ConfiguredOptions = {}): Promise<ConfiguredRuntime> {
  // A later chdir of the host does not change the configuration.
  const options = { ...given, cwd: resolve(given.cwd ?? process.cwd()) };
  let config = await loadConfiguration(options);
  const { limits: limitsInEffect } = config.settings;
  const trust = trustOf(options);
  const values = createServerValues(options, {
    trust,
    settings: () => config.settings,
    learn: (secret) => runtime.learnSecret(secret),
  });
  const effective = effectiveOptions(options, config.settings, values.vault);
  const runtime = await createRuntime({ ...effective, servers: config.parsed, resolve: values.resolve });
  await values.take(config);
  const own = parseRules(options.rules ?? []);
  const bound = new Set([runtime]);
  const takeSettings = (): void => {
    for (const one of bound) one.setRules(rulesOf(config, own), policyDefaults(config, options));
    runtime.energy?.configure({ ...options.energy, ...energyOf(config) });
    setResourceTools(runtime, resourceToolPlace(options, config));
  };
  takeSettings();
  // Of two reloads, the one that began later must also be the last to take effect.
  const inTurn = createSerialQueue();
  const load = async (): Promise<LoadedConfig> => {
    for (const one of bound) await one.pins.load();
    return loadWhenStable(config, () => loadConfiguration(options, config));
  };
  const updates = new ServerUpdates(runtime);
  const apply = (loaded: LoadedConfig): AppliedConfig => {
    config = withLimitsInEffect(loaded, limitsInEffect, options.service);
    void values.take(config);
    takeSettings();
    return { config, applied: updates.apply(config.parsed) };
  };
  return {
    runtime,
    config: () => config,
    createInlineRuntime: async (limits) => {
      const inline = { ...effective, resourceTools: false, limits: { ...effective.limits, ...limits } };
      const other = await createRuntime(inline, runtime);
      bound.add(other);
      takeSettings();
      return other;
    },
    trust,
    secretsLearned: values.learned,
    reload: async () => toReload(await inTurn(async () => apply(await load()))),
    follow: (onReload) =>
      follow({
        files: async () => [...(await filesOf(config, options)), trust.file],
        checkForChanges: () =>
          inTurn(async () => {
            const loaded = await load();
            return isSameConfig(loaded, config) ? undefined : apply(loaded);
          }),
        onReload,
      }),
  };
}

/** The options of the host. What they leave out comes from the configuration. */
function effectiveOptions(
  options: ConfiguredOptions,
  settings: LoadedConfig['settings'],
  vault: () => Promise<VaultLike>,
): RuntimeOptions {
  return {
    ...options,
    vault,
    naming: options.naming ?? settings.naming ?? options.usualNaming,
    ...(options.describePrefix === undefined && { describePrefix: settings.describePrefix }),
    pins: options.pins ?? settings.pins,
    ...(options.createTelemetry !== undefined && {
      telemetry: options.createTelemetry(settings) ?? false,
    }),
    defaults: settings.defaults,
    energy: { ...options.energy },
    // JSON has no undefined.
    limits: settings.limits as Partial<RuntimeLimits> | undefined,
    approvalWaitMs:
      options.usualApprovalWaitMs && (settings.daemon?.approvalWaitMs ?? options.usualApprovalWaitMs),
    onAlways:
      options.onAlways ??
      (async (rule, asked) => {
        const { saveRule } = await import('../config/save-rule.js');
        await saveRule(userFile(layerContextOf(options)), rule, asked);
      }),
  };
}

/** What the files say; JSON has no undefined. */
const energyOf = ({ settings }: LoadedConfig): EnergyOptions => (settings.energy ?? {}) as EnergyOptions;

function resourceToolPlace(
  { resourceTools: own }: ConfiguredOptions,
  { settings: { resourceTools, daemon } }: LoadedConfig,
): ResourceToolPlace {
  if ((own ?? resourceTools) === true) return 'everywhere';
  const views = Object.values(daemon?.views ?? {});
  return views.some((view) => view.resourceTools === true) ? 'views' : 'nowhere';
}

/** Limits are read once, at the start. A reload reports that other ones are written now. */
function withLimitsInEffect(
  loaded: LoadedConfig,
  limits: LoadedConfig['settings']['limits'],
  service: ConfiguredOptions['service'],
): LoadedConfig {
  if (isSameJson(loaded.settings.limits ?? {}, limits ?? {})) return loaded;
  const pending = new TurnbuckleError(
    'CONFIG_INVALID',
    'The limits in the configuration have changed, but the previous limits are still in effect.',
    {
      hint:
        service === 'daemon'
          ? 'To apply the new limits, run: turnbuckle serve restart'
          : `The new limits take effect when the ${service ?? 'program'} is started again.`,
    },
  );
  return { ...loaded, problems: [...loaded.problems, pending] };
}

class ServerUpdates {
  readonly #runtime: Runtime;
  #settled: Promise<unknown> = Promise.resolve();

  constructor(runtime: Runtime) {
    this.#runtime = runtime;
  }

  /** Waits for earlier updates too, even if everything is already applied. */
  apply(servers: ParsedServers): Promise<SetServersResult> {
    const before = this.#settled;
    const applied = this.#runtime.setServers(servers);
    this.#settled = applied.catch(() => {});
    return before.then(() => applied);
  }
}

/** The administrator's rules, then the program's, then those of the files. */
function rulesOf({ rules }: LoadedConfig, own: readonly PlacedRule[]): readonly PlacedRule[] {
  const isManaged = ({ from }: PlacedRule): boolean => from === 'managed';
  return [...rules.filter(isManaged), ...own, ...rules.filter((one) => !isManaged(one))];
}

/** Agent calls require approval unless the user's own configuration or environment says otherwise. */
const policyDefaults = ({ settings }: LoadedConfig, { defaultDecision, flows }: ConfiguredOptions) => ({
  defaultDecision:
    defaultDecision ?? (settings.toolApprovalRequired === false ? ('allow' as const) : undefined),
  flows: flows ?? settings.flows ?? 'ask',
});

/** An applied configuration; its servers may take longer. */
interface AppliedConfig {
  readonly config: LoadedConfig;
  readonly applied: Promise<SetServersResult>;
}

async function toReload(taken: AppliedConfig): Promise<Reload> {
  return { ...(await taken.applied), config: taken.config };
}

/**
 * Loads until no existing file is missing only temporarily: editors delete and re-create files, some more than once.
 * What was read decides, not a check before or after it.
 */
async function loadWhenStable(
  before: LoadedConfig,
  load: () => Promise<LoadedConfig>,
): Promise<LoadedConfig> {
  let goneSince = performance.now();
  for (;;) {
    const loaded = await load();
    const lost = findMissingFiles(before, loaded);
    if (lost.length === 0 || performance.now() - goneSince >= MISSING_FILE_GRACE_MS) return loaded;
    do await delay(MISSING_FILE_POLL_MS);
    while ((await areMissing(lost)) && performance.now() - goneSince < MISSING_FILE_GRACE_MS);
    if (!(await areMissing(lost))) goneSince = performance.now();
  }
}

/** Files that had content before and do not exist now. */
function findMissingFiles(before: LoadedConfig, loaded: LoadedConfig): readonly string[] {
  const isHeld = ({ present, unusable }: ReadLayer): boolean => present || unusable;
  const held = new Set(loaded.layers.filter(isHeld).map(({ layer }) => layer.file));
  return before.layers.flatMap((read) =>
    isHeld(read) && !held.has(read.layer.file) ? [read.layer.file] : [],
  );
}

interface FollowOptions {
  readonly files: () => Promise<readonly string[]>;
  /** Applies changes; undefined if there are none. */
  readonly checkForChanges: () => Promise<AppliedConfig | undefined>;
  readonly onReload: (reload: Reload) => void;
}

/** A server that connects slowly delays the report of its change, never the next change. */
async function follow({ files, checkForChanges, onReload }: FollowOptions): Promise<() => Promise<void>> {
  let stopped = false;
  let reported: Promise<void> = Promise.resolve();
  const onChange = async (): Promise<void> => {
    const taken = await checkForChanges();
    if (taken === undefined) return;
    const reload = toReload(taken);
    reload.catch(() => {});
    reported = reported
      .then(() => reload)
      .then((done) => (stopped ? undefined : onReload(done)))
      .catch(() => {});
  };
  const stop = await watchFiles({ files, onChange });
  // Changes since the configuration was loaded would otherwise be missed.
  await onChange();
  return async () => {
    stopped = true;
    await stop();
  };
}
