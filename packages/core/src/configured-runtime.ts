/**
 * A runtime from configuration files: placeholders are filled in when a server is connected, and the running
 * system follows the files when it is told to.
 */
import { homedir } from 'node:os';
import { resolve } from 'node:path';
import type { InputDeclaration } from './config/file-schema.js';
import { interpolate, type Placeholders, toVariable } from './config/interpolate.js';
import { type ConfiguredServer, type LoadedConfig, type LoadOptions, loadConfig } from './config/load.js';
import { parseServer } from './config/parse.js';
import type { ServerConfig } from './config/schema.js';
import { readSecret } from './config/secrets.js';
import { TrustStore } from './config/trust.js';
import { watchFiles } from './config/watch.js';
import { createRuntime } from './create-runtime.js';
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
  const environment = options.environment ?? process.env;
  return loadConfig({
    cwd: resolve(options.cwd ?? process.cwd()),
    home: environment.HOME ?? homedir(),
    platform: process.platform,
    environment,
    files: options.files,
    extra: options.extra,
    trust: new TrustStore(options.stateDir ?? defaultStateDirectory(environment)),
    trustProject: options.trustProject,
    previous,
  });
}

/** A runtime for the configuration of a directory. Starts nothing yet. */
export async function createConfiguredRuntime(options: ConfiguredOptions = {}): Promise<ConfiguredRuntime> {
  let config = await loadConfiguration(options);
  const { settings } = config;
  const runtime = await createRuntime({
    ...options,
    ...(options.naming === undefined && settings.naming !== undefined && { naming: settings.naming }),
    ...(options.describePrefix === undefined && { describePrefix: settings.describePrefix }),
    servers: config.parsed,
    resolve: (name, server) => fillIn(name, server, config, options),
  });
  const reload = async (): Promise<Reload> => {
    config = await loadConfiguration(options, config);
    return { ...(await runtime.setServers(config.parsed)), config };
  };
  const environment = options.environment ?? process.env;
  return {
    runtime,
    config: () => config,
    trust: new TrustStore(options.stateDir ?? defaultStateDirectory(environment)),
    reload,
    follow: (onReload) =>
      watchFiles(
        config.layers.map(({ layer }) => layer.file),
        async () => onReload(await reload()),
      ),
  };
}

async function fillIn(
  name: string,
  server: ServerConfig,
  config: LoadedConfig,
  options: ConfiguredOptions,
): Promise<ServerConfig> {
  const written = config.servers.get(name);
  if (written === undefined) return server;
  const entry = await interpolate(written.entry, placeholdersFor(written, config, options), {
    server: name,
    file: written.origin.file,
  });
  return inDirectory({ ...parseServer(name, entry), scope: server.scope, enabled: server.enabled }, written);
}

/** Relative paths of a project's server mean the project, wherever the host was started. */
function inDirectory(server: ServerConfig, { directory, origin }: ConfiguredServer): ServerConfig {
  if (server.type !== 'stdio') return server;
  if (server.cwd !== undefined) return { ...server, cwd: resolve(directory, server.cwd) };
  return origin.scope === 'project' || origin.scope === 'local' ? { ...server, cwd: directory } : server;
}

function placeholdersFor(
  { directory }: ConfiguredServer,
  { settings }: LoadedConfig,
  options: ConfiguredOptions,
): Placeholders {
  const environment = options.environment ?? process.env;
  return {
    environment,
    workspaceFolder: directory,
    userHome: environment.HOME ?? homedir(),
    input: async (id) => {
      const declared = settings.inputs?.find((one) => one.id === id);
      return (
        environment[`TURNBUCKLE_INPUT_${toVariable(id)}`] ??
        (await options.askInput?.(id, declared)) ??
        declared?.default
      );
    },
    secret: (name) => readSecret(name, { environment, command: settings.secretCommand }),
  };
}
