/** The values of configured servers: placeholders are filled in when they connect, and secrets learned before that. */
import { retryableOnce } from '../async/retryable-once.js';
import type { VaultLike, VaultSource } from '../auth/sign-in-store.js';
import { wholeConfigOf } from '../config/credentials.js';
import { type FillInSource, fillIn } from '../config/fill-in.js';
import { checkTrust } from '../config/guard.js';
import { isProjectScope } from '../config/layers/layers.js';
import type { ConfiguredServer, LoadedConfig } from '../config/layers/loaded-config.js';
import type { ServerConfig } from '../config/schema/schema.js';
import type { TrustStore } from '../config/trust/trust.js';
import { homeDirectory } from '../files/home-directory.js';
import { defaultStateDirectory } from '../files/state-directory.js';
import type { RuntimeOptions } from './options.js';
import { SecretLearner } from './secret-learner.js';

/** What a host decides about the values of servers. */
interface ValueOptions {
  readonly environment?: FillInSource['environment'] | undefined;
  readonly stateDir?: string | undefined;
  readonly vault?: VaultSource | undefined;
  readonly askInput?: FillInSource['askInput'];
  readonly service?: FillInSource['service'];
  readonly trustProject?: boolean | undefined;
}

interface ValueParts {
  readonly trust: TrustStore;
  readonly settings: () => LoadedConfig['settings'];
  /** Registers a value for redaction. */
  readonly learn: (secret: string) => void;
}

/** Where the values of the configured servers come from. */
export interface ServerValues {
  readonly vault: () => Promise<VaultLike>;
  readonly resolve: NonNullable<RuntimeOptions['resolve']>;
  /** The configuration in effect from now on. Resolves when its secrets outside the vault are learned. Never rejects. */
  take(config: LoadedConfig): Promise<void>;
  /** Resolves when those in the vault are learned, too, if nobody has to be asked for them. Never rejects. */
  learned(): Promise<void>;
}

export function createServerValues(
  options: ValueOptions,
  { trust, settings, learn }: ValueParts,
): ServerValues {
  const { environment = process.env, askInput, service } = options;
  const written = new WeakMap<ServerConfig, ConfiguredServer>();
  const openVault = createVaultOpener(options);
  const home = homeDirectory(environment);
  const learner = new SecretLearner({ environment, home, vault: openVault, learn });
  const vault = async () => {
    const opened = await openVault();
    return {
      get: async (name: string) => {
        const value = await opened.get(name);
        learner.onVaultOpened();
        return value;
      },
    };
  };
  return {
    vault: openVault,
    // By object, not by name: a server set by the host is not the one in the file.
    resolve: async (_name, server, onSecret) => {
      const origin = written.get(wholeConfigOf(server));
      if (origin === undefined) return server;
      const { secretCommand } = settings();
      // At every start: the files in its command may have changed since the configuration was loaded.
      if (isProjectScope(origin.origin.scope) && options.trustProject !== true) {
        const found = await checkTrust(origin, { trust, settings: settings() });
        if (found?.isUsed === false) throw found.error;
      }
      const source = { environment, home: homeDirectory(environment), secretCommand, vault };
      return fillIn(server, origin, { ...source, learn: onSecret, askInput, service });
    },
    take: (config) => {
      for (const server of config.servers.values())
        if (server.config !== undefined) written.set(server.config, server);
      return learner.learn(config);
    },
    learned: () => learner.settled(),
  };
}

/** Opens the vault once, on first use. */
function createVaultOpener(options: ValueOptions): () => Promise<VaultLike> {
  const { environment = process.env, vault: given } = options;
  const stateDir = options.stateDir ?? defaultStateDirectory(environment);
  return retryableOnce(async () => {
    if (given === undefined)
      return (await import('../vault/vault.js')).createVault({ stateDir, environment });
    return typeof given === 'function' ? given() : given;
  });
}
