/**
 * A runtime from configuration files: placeholders are filled in when a server is connected, and the running
 * system follows the files when it is told to.
 */
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { resolve } from 'node:path';
import type { InputDeclaration } from './config/file-schema.js';
import { interpolate, type Placeholders, toVariable } from './config/interpolate.js';
import { isOfProject, type LayerPlace, possibleProjectFiles } from './config/layers.js';
import { type ConfiguredServer, type LoadedConfig, type LoadOptions, loadConfig } from './config/load.js';
import { type ConfigFault, parseServer, tellFaults } from './config/parse.js';
import type { ServerConfig } from './config/schema.js';
import { readSecret } from './config/secrets.js';
import { TrustStore } from './config/trust.js';
import { watchFiles } from './config/watch.js';
import { createRuntime } from './create-runtime.js';
import { TurnbuckleError } from './errors.js';
import type { Runtime } from './runtime.js';
import type { RuntimeOptions } from './runtime-options.js';
import type { SetServersResult } from './server-set.js';
import { defaultStateDirectory } from './state-directory.js';

export interface ConfiguredOptions extends Omit<RuntimeOptions, 'servers' | 'resolve'> {
  readonly cwd?: string | undefined;
  /** Configuration files that stand above the others. */
  readonly files?: readonly string[] | undefined;
  /** Servers beside those of the files, by name. */
  readonly extra?: LoadOptions['extra'];
  readonly trustProject?: boolean | undefined;
  /** Asks for an `${input:id}`; absent: only what the environment gives. */
  readonly askInput?:
    | ((id: string, declared: InputDeclaration | undefined) => Promise<string | undefined>)
    | undefined;
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
  /** Reads the files again and takes over what changed. */
  reload(): Promise<Reload>;
  /** Follows the files from now on; answers the function that ends it. */
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
    trust: new TrustStore(options.stateDir ?? defaultStateDirectory(place.environment)),
    trustProject: options.trustProject,
    previous,
  });
}

function placeOf({ cwd, environment = process.env, files }: ConfiguredOptions): LayerPlace {
  return {
    cwd: resolve(cwd ?? process.cwd()),
    home: homeOf(environment),
    platform: process.platform,
    environment,
    files,
    exists: existsSync,
  };
}

const homeOf = (environment: Readonly<Record<string, string | undefined>>): string =>
  environment.HOME || homedir();

/** A runtime for the configuration of a directory. Starts nothing yet. */
export async function createConfiguredRuntime(options: ConfiguredOptions = {}): Promise<ConfiguredRuntime> {
  let config = await loadConfiguration(options);
  const { settings } = config;
  const written = new WeakMap<ServerConfig, ConfiguredServer>();
  const remember = (): void => {
    for (const server of config.servers.values())
      if (server.config !== undefined) written.set(server.config, server);
  };
  remember();
  const runtime = await createRuntime({
    ...options,
    ...(options.naming === undefined && settings.naming !== undefined && { naming: settings.naming }),
    ...(options.describePrefix === undefined && { describePrefix: settings.describePrefix }),
    ...(options.defaultDecision === undefined && { defaultDecision: unasked(options, settings) }),
    servers: config.parsed,
    // By the object, not by the name: a server that the host set itself is not the file's of the same name.
    resolve: async (_name, server) => {
      const origin = written.get(server);
      return origin === undefined ? server : fillIn(server, origin, { config, options });
    },
  });
  const load = async (): Promise<Reload> => {
    config = await loadConfiguration(options, config);
    remember();
    return { ...(await runtime.setServers(config.parsed)), config };
  };
  let last: Promise<unknown> = Promise.resolve();
  // One after the other: of two, the one that began later must also be the last to take effect.
  const reload = (): Promise<Reload> => {
    const next = last.then(load);
    last = next.catch(() => {});
    return next;
  };
  const environment = options.environment ?? process.env;
  return {
    runtime,
    config: () => config,
    trust: new TrustStore(options.stateDir ?? defaultStateDirectory(environment)),
    reload,
    follow: (onReload) =>
      watchFiles(
        [...config.layers.map(({ layer }) => layer.file), ...possibleProjectFiles(placeOf(options))],
        async () => onReload(await reload()),
      ),
  };
}

async function fillIn(
  server: ServerConfig,
  origin: ConfiguredServer,
  { config, options }: { config: LoadedConfig; options: ConfiguredOptions },
): Promise<ServerConfig> {
  const { name } = origin;
  const { file } = origin.origin;
  const entry = await interpolate(origin.entry, placeholdersFor(origin, config, options), {
    server: name,
    file,
  });
  try {
    const filled = parseServer(name, entry);
    return inDirectory({ ...filled, scope: server.scope, enabled: server.enabled }, origin);
  } catch (error) {
    throw error instanceof TurnbuckleError ? filledInWrong(error, file) : error;
  }
}

/** What is wrong once the placeholders are filled in, without the values, which may be secrets now. */
function filledInWrong({ server, data }: TurnbuckleError, file: string): TurnbuckleError {
  const problems = (data?.problems ?? []) as readonly ConfigFault[];
  const text = tellFaults(
    problems.map((fault) => ({ ...fault, text: fault.text.replace(/, found .*$/s, '') })),
  );
  return new TurnbuckleError(
    'CONFIG_INVALID',
    `Server "${server}" cannot be used with its placeholders filled in: ${text} (${file}).`,
    { server, hint: 'Look at the values of its variables, inputs and secrets.', data: { file } },
  );
}

/** Relative paths of a project's server mean the project, wherever the host was started. */
function inDirectory(server: ServerConfig, { directory, origin }: ConfiguredServer): ServerConfig {
  if (server.type !== 'stdio') return server;
  if (server.cwd !== undefined) return { ...server, cwd: resolve(directory, server.cwd) };
  return isOfProject(origin.scope) ? { ...server, cwd: directory } : server;
}

function placeholdersFor(
  { directory, inputs }: ConfiguredServer,
  { settings }: LoadedConfig,
  options: ConfiguredOptions,
): Placeholders {
  const environment = options.environment ?? process.env;
  return {
    environment,
    workspaceFolder: directory,
    userHome: homeOf(environment),
    input: async (id) => {
      const declared = inputs.find((one) => one.id === id);
      return (
        environment[`TURNBUCKLE_INPUT_${toVariable(id)}`] ??
        (await options.askInput?.(id, declared)) ??
        declared?.default
      );
    },
    secret: (name) => readSecret(name, { environment, command: settings.secretCommand }),
  };
}

/** Agents' calls are asked for unless the user's own configuration, or `MCP_TOOL_APPROVAL`, says otherwise. */
function unasked(
  { environment = process.env }: ConfiguredOptions,
  { toolApprovalRequired }: LoadedConfig['settings'],
): 'allow' | undefined {
  const said = environment.MCP_TOOL_APPROVAL?.toLowerCase();
  const required =
    said === undefined || said === ''
      ? (toolApprovalRequired ?? true)
      : !['false', '0', 'off', 'no'].includes(said);
  return required ? undefined : 'allow';
}
