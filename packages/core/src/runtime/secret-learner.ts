/**
 * Learns the secrets of all configured servers, also of those that are not connected yet: what is known is redacted,
 * and not sent by agents. Nobody is asked for a secret, and no start waits for the vault.
 */
import { setTimeout as delay, setImmediate } from 'node:timers/promises';
import type { VaultLike } from '../auth/sign-in-store.js';
import { type ConfiguredServer, isUsable, type LoadedConfig } from '../config/layers/loaded-config.js';
import { learnReadable, type ReadableSource, refersToSecrets } from '../config/readable-secrets.js';

/** For a vault on a drive that does not answer. */
const MAX_WAIT_MS = 2_000;
const SERVERS_PER_TURN = 20;

export interface SecretLearnerOptions extends Omit<ReadableSource, 'vault'> {
  readonly vault: () => Promise<VaultLike>;
}

export class SecretLearner {
  readonly #options: SecretLearnerOptions;
  #servers: readonly ConfiguredServer[] = [];
  #isVaultOpen = false;
  #learning: Promise<void> = Promise.resolve();

  constructor(options: SecretLearnerOptions) {
    this.#options = options;
  }

  /** Resolves when everything outside the vault is learned. Never rejects. */
  async learn({ servers }: LoadedConfig): Promise<void> {
    // Nothing of a project that nobody agreed to is resolved.
    this.#servers = [...servers.values()].filter(isUsable);
    await this.#learnAll(this.#servers);
    this.#learnFromVault();
  }

  /** Resolves when the vault was read, if it can be opened without asking; after two seconds in any case. */
  async settled(): Promise<void> {
    const ended = new AbortController();
    const late = delay(MAX_WAIT_MS, undefined, { signal: ended.signal }).catch(() => {});
    await Promise.race([this.#learning, late]);
    ended.abort();
  }

  /** A connection has opened the vault: now nobody is asked for it any more. */
  onVaultOpened(): void {
    if (this.#isVaultOpen) return;
    this.#isVaultOpen = true;
    this.#learnFromVault();
  }

  #learnFromVault(): void {
    const servers = this.#servers.filter(refersToSecrets);
    if (servers.length === 0) return;
    const before = this.#learning;
    this.#learning = before.then(async () => {
      const vault = await this.#openUnasked();
      if (vault !== undefined) await this.#learnAll(servers, vault);
    });
    // A connection that needs the vault reports what is wrong with it.
    this.#learning = this.#learning.catch(() => {});
  }

  async #openUnasked(): Promise<VaultLike | undefined> {
    const vault = await this.#options.vault();
    if (this.#isVaultOpen) return vault;
    const key = await vault.keySource?.();
    const isGiven = key === 'passphrase' && Boolean(this.#options.environment.TURNBUCKLE_PASSPHRASE);
    return key === 'file' || isGiven ? vault : undefined;
  }

  async #learnAll(servers: readonly ConfiguredServer[], vault?: VaultLike): Promise<void> {
    const source = { ...this.#options, vault: vault && (async () => vault) };
    for (const [index, server] of servers.entries()) {
      if (index % SERVERS_PER_TURN === SERVERS_PER_TURN - 1) await setImmediate();
      await learnReadable(server, source);
    }
  }
}
