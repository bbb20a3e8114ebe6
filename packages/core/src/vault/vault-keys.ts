/** Finds, creates and replaces the key of a vault. The vault's header names its location, so no location is guessed. */

import { keyFile } from './key-file.js';
import type { KeyLocation, KeyLocationName } from './key-location.js';
import { keychain } from './keychain.js';
import { secretsUnavailable } from './vault-errors.js';
import type { Warn } from './vault-file.js';
import type { KeyHeader } from './vault-format.js';
import { deriveKey, newDerivation, randomKey, type VaultKey } from './vault-key.js';

export type KeySource = KeyLocationName | 'passphrase';

export interface VaultKeysOptions {
  readonly file: string;
  readonly keyFile: string;
  readonly account: () => Promise<string>;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** `open`: the current passphrase of the vault; `create`: a new one. */
  readonly passphrase?: ((why: 'open' | 'create') => Promise<string | undefined>) | undefined;
  readonly keychain: boolean;
  readonly warn: Warn;
}

interface HeldKey {
  readonly header: KeyHeader;
  readonly key: VaultKey;
}

/** Detecting whether there is a keychain must be quick. */
const KEYCHAIN_PROBE_TIMEOUT_MS = 3_000;
/** A keychain that holds the key may have to prompt its user for a password first. */
const KEYCHAIN_UNLOCK_TIMEOUT_MS = 30_000;

export class VaultKeys {
  readonly #options: VaultKeysOptions;
  readonly #cache = new Map<string, Promise<VaultKey>>();

  constructor(options: VaultKeysOptions) {
    this.#options = options;
  }

  /** The key that the header names. Concurrent requests share one lookup. */
  find(header: KeyHeader): Promise<VaultKey> {
    const known = this.#cache.get(header.id);
    if (known !== undefined) return known;
    const finding = header.from === 'passphrase' ? this.#derive(header) : this.#fetch(header);
    this.#cache.set(header.id, finding);
    // Retried next time: by then the keychain may be unlocked, or the passphrase typed correctly.
    finding.catch(() => this.#cache.delete(header.id));
    return finding;
  }

  /** A key for a vault that does not exist yet. */
  async create(): Promise<HeldKey> {
    const passphrase =
      this.#options.environment.TURNBUCKLE_PASSPHRASE || (await this.#askPassphrase('create'));
    if (passphrase) return this.#remember(await fromPassphrase(passphrase));
    if (this.#keychainDisabledReason() === undefined) {
      try {
        return this.#remember(await this.#findOrCreateIn('keychain'));
      } catch {
        // No keychain responds: fall back to the key file, which always works.
      }
    }
    return this.#remember(await this.#findOrCreateIn('file'));
  }

  /** Creates and stores another key; the old one stays until `retire`. */
  async replace({ header, key }: HeldKey, to: KeySource): Promise<HeldKey> {
    const retire = header.from === 'passphrase' ? undefined : header.from;
    const next = to === 'passphrase' ? await this.#fromNewPassphrase() : await this.#addKey(to, header, key);
    return this.#remember({
      header: { ...next.header, ...(retire !== undefined && { retire }) },
      key: next.key,
    });
  }

  /** Removes every key from that location except the one in use. */
  async retire(name: KeyLocationName, { header, key }: HeldKey): Promise<void> {
    await (await this.#open(name, KEYCHAIN_UNLOCK_TIMEOUT_MS)).write(header.from === name ? [key] : []);
  }

  async #addKey(to: KeyLocationName, header: KeyHeader, key: VaultKey): Promise<HeldKey> {
    const off = to === 'keychain' ? this.#keychainDisabledReason() : undefined;
    if (off !== undefined) throw this.#disabledError(off);
    const place = await this.#open(to, KEYCHAIN_UNLOCK_TIMEOUT_MS);
    const next = randomKey();
    await place.write(header.from === to ? [key, next] : [next]);
    return { header: { from: to, id: next.id }, key: next };
  }

  async #fromNewPassphrase(): Promise<HeldKey> {
    const { environment } = this.#options;
    const passphrase =
      environment.TURNBUCKLE_NEW_PASSPHRASE ||
      (await this.#askPassphrase('create')) ||
      environment.TURNBUCKLE_PASSPHRASE;
    if (passphrase) return fromPassphrase(passphrase);
    throw secretsUnavailable(this.#options.file, 'No new passphrase was provided for the vault.', {
      hint: 'Run the command in a terminal to enter one, or set TURNBUCKLE_NEW_PASSPHRASE.',
    });
  }

  /** Reuses an existing key there: it may belong to a vault that was moved away temporarily. */
  async #findOrCreateIn(name: KeyLocationName): Promise<HeldKey> {
    const place = await this.#open(name, KEYCHAIN_PROBE_TIMEOUT_MS);
    const found = (await place.read()).at(-1);
    const key = found ?? randomKey();
    if (found === undefined) await place.write([key]);
    return { header: { from: name, id: key.id }, key };
  }

  async #derive(header: Extract<KeyHeader, { from: 'passphrase' }>): Promise<VaultKey> {
    const { file, environment } = this.#options;
    const passphrase = environment.TURNBUCKLE_PASSPHRASE || (await this.#askPassphrase('open'));
    if (!passphrase)
      throw secretsUnavailable(file, `The vault ${file} is locked with a passphrase.`, {
        hint: 'Run the command in a terminal to enter the passphrase, or set TURNBUCKLE_PASSPHRASE. The daemon cannot ask for a passphrase, so set the variable before you start the daemon.',
      });
    const key = await deriveKey(passphrase, header);
    if (key.id === header.id) return key;
    throw secretsUnavailable(file, `Wrong passphrase for the vault ${file}.`, {
      hint: 'Try again. The vault cannot be opened without its passphrase.',
    });
  }

  async #fetch({ from, id }: Extract<KeyHeader, { from: KeyLocationName }>): Promise<VaultKey> {
    const off = from === 'keychain' ? this.#keychainDisabledReason() : undefined;
    if (off !== undefined) throw this.#disabledError(off);
    const place = await this.#open(from, KEYCHAIN_UNLOCK_TIMEOUT_MS);
    const key = (await place.read()).find((one) => one.id === id);
    if (key !== undefined) return key;
    const { file, keyFile: keyPath } = this.#options;
    const where = from === 'file' ? `the file ${keyPath}` : 'the keychain';
    throw secretsUnavailable(file, `The key for the vault ${file} is missing from ${where}.`, {
      hint: 'Restore the key from a backup, or move the vault to another directory and set the secrets again.',
    });
  }

  async #open(name: KeyLocationName, timeoutMs: number): Promise<KeyLocation> {
    const { file, keyFile: path, environment, account, warn } = this.#options;
    if (name === 'file') return keyFile(path, warn);
    return keychain({ file, environment, timeoutMs, account: await account() });
  }

  #keychainDisabledReason(): string | undefined {
    if (!this.#options.keychain) return 'the program that uses Turnbuckle has turned it off';
    return this.#options.environment.TURNBUCKLE_KEYCHAIN === 'off'
      ? 'TURNBUCKLE_KEYCHAIN is "off"'
      : undefined;
  }

  #disabledError(why: string): Error {
    const { file } = this.#options;
    return secretsUnavailable(file, `The vault ${file} cannot use the keychain because ${why}.`, {
      hint: 'Enable the keychain. To move the key to a file afterwards: turnbuckle secrets rotate --to file',
    });
  }

  #askPassphrase(why: 'open' | 'create'): Promise<string | undefined> {
    return this.#options.passphrase?.(why) ?? Promise.resolve(undefined);
  }

  #remember(held: HeldKey): HeldKey {
    this.#cache.set(held.key.id, Promise.resolve(held.key));
    return held;
  }
}

async function fromPassphrase(passphrase: string): Promise<HeldKey> {
  const derivation = newDerivation();
  const key = await deriveKey(passphrase, derivation);
  return { header: { from: 'passphrase', id: key.id, ...derivation }, key };
}
