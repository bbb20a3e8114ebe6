/**
 * A runtime from configuration files: placeholders are filled in when a server is connected, and the running
 * system follows the files when it is told to.
 */
import { resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { VaultLike } from './auth/sign-in-store.js';
import { type FillInSource, fillIn } from './config/fill-in.js';
import { checkTrust } from './config/guard.js';
import { homeDirectory } from './config/home-directory.js';
import { areGone, existing } from './config/keep-last.js';
import {
  isOfProject,
  type LayerPlace,
  possibleProjectFiles,
  projectPlaces,
  userFile,
} from './config/layers.js';
import { type LoadOptions, loadConfig } from './config/load.js';
import { type ConfiguredServer, isSameConfig, type LoadedConfig } from './config/loaded-config.js';
import type { ReadLayer } from './config/read-layer.js';
import { parseRules } from './config/read-rules.js';
import type { PlacedRule } from './config/rule-schema.js';
import type { ServerConfig } from './config/schema.js';
import { TrustStore } from './config/trust.js';
import { watchFiles } from './config/watch.js';
import { createRuntime } from './create-runtime.js';
import type { RuntimeLimits } from './limits.js';
import { retryableOnce } from './retryable-once.js';
import type { Runtime } from './runtime.js';
import type { RuntimeOptions } from './runtime-options.js';
import type { SetServersResult } from './server-set.js';
import { defaultStateDirectory } from './state-directory.js';

/** A file that is being replaced is away for a moment: only one that is away for this long is believed to be gone. */
const GONE_MS = 1_500;
const GONE_LOOK_MS = 50;

export interface ConfiguredOptions extends Omit<RuntimeOptions, 'servers' | 'resolve'> {
  readonly cwd?: string | undefined;
  /** Configuration files that stand above the others. */
  readonly files?: readonly string[] | undefined;
  /** Servers beside those of the files, by name. */
  readonly extra?: LoadOptions['extra'];
  /** Servers that there are as long as no file has one of their names. */
  readonly usual?: LoadOptions['usual'];
  readonly trustProject?: boolean | undefined;
  /** How tools are named where neither `naming` nor a file says it. */
  readonly usualNaming?: RuntimeOptions['naming'];
  /** Of a daemon, where its settings do not say how long an agent's call waits for its approval. */
  readonly usualApprovalWaitMs?: number | undefined;
  /** Asks for an `${input:id}`; absent: only what the environment gives. */
  readonly askInput?: FillInSource['askInput'];
  /** Others call through it from environments of their own: what is missing is said to be missing here. */
  readonly isDaemon?: boolean | undefined;
}

/** What came of a change of the files. */
export interface Reload extends SetServersResult {
  readonly config: LoadedConfig;
}

export interface ConfiguredRuntime {
  readonly runtime: Runtime;
  /** The configuration in effect. */
  readonly config: () => LoadedConfig;
  readonly trust: TrustStore;
  /**
   * Another runtime for the same agents, with servers that are in no file: the options and rules of this one hold for it,
   * it knows the same secrets, and it asks the same people.
   */
  createBeside(limits?: Partial<RuntimeLimits>): Promise<Runtime>;
  /** Reads the files again and takes over what changed. */
  reload(): Promise<Reload>;
  /** Follows the files, from what is in effect now on; answers the function that ends it. */
  follow(onReload: (reload: Reload) => void): Promise<() => Promise<void>>;
}

/** Finds and loads the configuration for a directory. Rejects never; what is wrong is in the result. */
export function loadConfiguration(
  options: ConfiguredOptions = {},
  previous?: LoadedConfig,
): Promise<LoadedConfig> {
  const place = placeOf(options);
  return loadConfig({
    ...place,
    extra: options.extra,
    usual: options.usual,
    trust: trustOf(options),
    trustProject: options.trustProject,
    previous,
  });
}

const trustOf = ({ stateDir, environment = process.env }: ConfiguredOptions): TrustStore =>
  new TrustStore(stateDir ?? defaultStateDirectory(environment), Date.now, environment);

function placeOf({ cwd, environment = process.env, files }: ConfiguredOptions): Omit<LayerPlace, 'exists'> {
  return {
    cwd: resolve(cwd ?? process.cwd()),
    home: homeDirectory(environment),
    platform: process.platform,
    environment,
    files,
  };
}

async function possibleFiles(place: Omit<LayerPlace, 'exists'>): Promise<string[]> {
  const there = await existing(projectPlaces(place), undefined);
  return possibleProjectFiles({ ...place, exists: (path) => there.has(path) });
}

/** A runtime for the configuration of a directory. Starts nothing yet. */
export async function createConfiguredRuntime(given: ConfiguredOptions = {}): Promise<ConfiguredRuntime> {
  // A host that goes elsewhere later does not mean another configuration.
  const options = { ...given, cwd: resolve(given.cwd ?? process.cwd()) };
  const { environment = process.env, askInput, isDaemon } = options;
  let config = await loadConfiguration(options);
  const { settings } = config;
  const written = new WeakMap<ServerConfig, ConfiguredServer>();
  const remember = (): void => {
    for (const server of config.servers.values())
      if (server.config !== undefined) written.set(server.config, server);
  };
  remember();
  const stateDir = options.stateDir ?? defaultStateDirectory(environment);
  const trust = trustOf(options);
  const vault = openerOf(options.vault, { stateDir, environment });
  const effective: RuntimeOptions = {
    ...options,
    vault,
    naming: options.naming ?? settings.naming ?? options.usualNaming,
    ...(options.describePrefix === undefined && { describePrefix: settings.describePrefix }),
    pins: options.pins ?? settings.pins,
    approvalWaitMs:
      options.usualApprovalWaitMs && (settings.daemon?.approvalWaitMs ?? options.usualApprovalWaitMs),
    onAlways:
      options.onAlways ??
      (async (rule, asked) => {
        const { keepRule } = await import('./config/keep-rule.js');
        await keepRule(userFile(placeOf(options)), rule, asked);
      }),
  };
  const runtime = await createRuntime({
    ...effective,
    servers: config.parsed,
    // By the object, not by the name: a server that the host set itself is not the file's of the same name.
    resolve: async (_name, server, learn) => {
      const origin = written.get(server);
      const { settings } = config;
      const { secretCommand } = settings;
      const source = {
        environment,
        home: homeDirectory(environment),
        secretCommand,
        vault,
        learn,
        askInput,
        isDaemon,
      };
      if (origin === undefined) return server;
      // Each time it starts: what its command names may have changed since the files were read.
      if (isOfProject(origin.origin.scope) && options.trustProject !== true) {
        const found = await checkTrust(origin, { trust, settings });
        if (found?.isUsed === false) throw found.error;
      }
      return fillIn(server, origin, source);
    },
  });
  const own = parseRules(options.rules ?? []);
  const bound = new Set([runtime]);
  const takeRules = (): void => {
    for (const one of bound) one.setRules(rulesOf(config, own), defaultOf(config, options));
  };
  takeRules();
  const inTurn = createTurns();
  const load = async (): Promise<LoadedConfig> => {
    for (const one of bound) await one.pins.load();
    return whenSettled(config, () => loadConfiguration(options, config));
  };
  let settled: Promise<unknown> = Promise.resolve();
  const apply = (loaded: LoadedConfig): Taken => {
    config = loaded;
    remember();
    takeRules();
    // Whoever finds everything taken over already waits for its servers all the same.
    const before = settled;
    const applied = runtime.setServers(config.parsed);
    settled = applied.catch(() => {});
    return { config, applied: before.then(() => applied) };
  };
  return {
    runtime,
    config: () => config,
    createBeside: async (limits) => {
      const other = await createRuntime(
        { ...effective, resourceTools: false, limits: { ...options.limits, ...limits } },
        runtime,
      );
      bound.add(other);
      takeRules();
      return other;
    },
    trust,
    reload: async () => toReload(await inTurn(async () => apply(await load()))),
    follow: (onReload) =>
      follow({
        files: async () => [
          ...config.layers.map(({ layer }) => layer.file),
          ...(await possibleFiles(placeOf(options))),
          trust.file,
        ],
        look: () =>
          inTurn(async () => {
            const loaded = await load();
            return isSameConfig(loaded, config) ? undefined : apply(loaded);
          }),
        onReload,
      }),
  };
}

/** Opens the vault once, when it is first needed. */
function openerOf(
  given: ConfiguredOptions['vault'],
  place: { readonly stateDir: string; readonly environment: Readonly<Record<string, string | undefined>> },
): () => Promise<VaultLike> {
  return retryableOnce(async () => {
    if (given === undefined) return (await import('./auth/vault.js')).createVault(place);
    return typeof given === 'function' ? given() : given;
  });
}

/** The administrator's rules, then the program's own, then those of the files. */
function rulesOf({ rules }: LoadedConfig, own: readonly PlacedRule[]): readonly PlacedRule[] {
  const isManaged = ({ from }: PlacedRule): boolean => from === 'managed';
  return [...rules.filter(isManaged), ...own, ...rules.filter((one) => !isManaged(one))];
}

/** Agents' calls are asked for unless the user's own configuration or environment says otherwise. */
const defaultOf = ({ settings }: LoadedConfig, { defaultDecision, flows }: ConfiguredOptions) => ({
  defaultDecision:
    defaultDecision ?? (settings.toolApprovalRequired === false ? ('allow' as const) : undefined),
  flows: flows ?? settings.flows ?? 'ask',
});

/** A configuration that has been taken over; that it is in effect may take its servers longer. */
interface Taken {
  readonly config: LoadedConfig;
  readonly applied: Promise<SetServersResult>;
}

async function toReload(taken: Taken): Promise<Reload> {
  return { ...(await taken.applied), config: taken.config };
}

/** One after the other: of two, the one that began later must also be the last to take effect. */
function createTurns(): <Result>(work: () => Promise<Result>) => Promise<Result> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const next = last.then(work);
    last = next.catch(() => {});
    return next;
  };
}

/**
 * What is loaded once no file that was there is only away for a moment: editors delete and create, some more than once.
 * What was read decides, not a look before or after it.
 */
async function whenSettled(before: LoadedConfig, load: () => Promise<LoadedConfig>): Promise<LoadedConfig> {
  let goneSince = performance.now();
  for (;;) {
    const loaded = await load();
    const lost = lostFiles(before, loaded);
    if (lost.length === 0 || performance.now() - goneSince >= GONE_MS) return loaded;
    do await delay(GONE_LOOK_MS);
    while ((await areGone(lost)) && performance.now() - goneSince < GONE_MS);
    if (!(await areGone(lost))) goneSince = performance.now();
  }
}

/** Files that said something then and did not exist now. */
function lostFiles(before: LoadedConfig, loaded: LoadedConfig): readonly string[] {
  const isHeld = ({ present, unusable }: ReadLayer): boolean => present || unusable;
  const held = new Set(loaded.layers.filter(isHeld).map(({ layer }) => layer.file));
  return before.layers.flatMap((read) =>
    isHeld(read) && !held.has(read.layer.file) ? [read.layer.file] : [],
  );
}

interface Following {
  readonly files: () => Promise<readonly string[]>;
  /** Takes over what has changed; undefined when nothing has. */
  readonly look: () => Promise<Taken | undefined>;
  readonly onReload: (reload: Reload) => void;
}

/** A server that takes its time to come up holds up the report of its change, never the next change. */
async function follow({ files, look, onReload }: Following): Promise<() => Promise<void>> {
  let stopped = false;
  let told: Promise<void> = Promise.resolve();
  const onChange = async (): Promise<void> => {
    const taken = await look();
    if (taken === undefined) return;
    const reload = toReload(taken);
    reload.catch(() => {});
    told = told
      .then(() => reload)
      .then((done) => (stopped ? undefined : onReload(done)))
      .catch(() => {});
  };
  const stop = await watchFiles({ files, onChange });
  // What has changed since the configuration was loaded nobody would hear of.
  await onChange();
  return async () => {
    stopped = true;
    await stop();
  };
}
