/** Finds, makes and replaces the key of a vault. The vault's header says where it is, so that nothing is tried out. */
import { keychain } from './key-chain.js';
import { keyFile } from './key-file.js';
import type { KeyPlace, KeyPlaceName } from './key-place.js';
import { secretsUnavailable } from './vault-errors.js';
import type { KeyHeader } from './vault-format.js';
import { deriveKey, newDerivation, randomKey, type VaultKey } from './vault-key.js';
import type { Warn } from './vault-private-file.js';

export type KeySource = KeyPlaceName | 'passphrase';

export interface VaultKeysOptions {
  readonly file: string;
  readonly keyFile: string;
  readonly account: () => Promise<string>;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** `open`: the one that the vault has; `create`: one for a new key. */
  readonly passphrase?: ((why: 'open' | 'create') => Promise<string | undefined>) | undefined;
  readonly keychain: boolean;
  readonly warn: Warn;
}

interface HeldKey {
  readonly header: KeyHeader;
  readonly key: VaultKey;
}

/** Whether there is a keychain at all must not take long. */
const PROBE_MS = 3_000;
/** One that is known to hold the key may first ask its user for a password. */
const UNLOCK_MS = 30_000;

export class VaultKeys {
  readonly #options: VaultKeysOptions;
  readonly #known = new Map<string, Promise<VaultKey>>();

  constructor(options: VaultKeysOptions) {
    this.#options = options;
  }

  /** The key that the header names; looked for once, by all who ask meanwhile. */
  find(header: KeyHeader): Promise<VaultKey> {
    const known = this.#known.get(header.id);
    if (known !== undefined) return known;
    const finding = header.from === 'passphrase' ? this.#derive(header) : this.#fetch(header);
    this.#known.set(header.id, finding);
    // Asked again next time: a keychain may be unlocked by then, a passphrase typed right.
    finding.catch(() => this.#known.delete(header.id));
    return finding;
  }

  /** A key for a vault that does not exist yet. */
  async create(): Promise<HeldKey> {
    const passphrase = this.#options.environment.TURNBUCKLE_PASSPHRASE || (await this.#ask('create'));
    if (passphrase) return this.#remember(await fromPassphrase(passphrase));
    if (this.#keychainOff() === undefined) {
      try {
        return this.#remember(await this.#place('keychain'));
      } catch {
        // None that answers: the key file is the way that always works.
      }
    }
    return this.#remember(await this.#place('file'));
  }

  /** Another key, already kept; the old one stays until `retire`. */
  async replace({ header, key }: HeldKey, to: KeySource): Promise<HeldKey> {
    const retire = header.from === 'passphrase' ? undefined : header.from;
    const next = to === 'passphrase' ? await this.#fromNewPassphrase() : await this.#addKey(to, header, key);
    return this.#remember({
      header: { ...next.header, ...(retire !== undefined && { retire }) },
      key: next.key,
    });
  }

  /** Leaves nothing in that place but the key in use, if it is there at all. */
  async retire(name: KeyPlaceName, { header, key }: HeldKey): Promise<void> {
    await (await this.#open(name, UNLOCK_MS)).write(header.from === name ? [key] : []);
  }

  async #addKey(to: KeyPlaceName, header: KeyHeader, key: VaultKey): Promise<HeldKey> {
    const off = to === 'keychain' ? this.#keychainOff() : undefined;
    if (off !== undefined) throw this.#switchedOff(off);
    const place = await this.#open(to, UNLOCK_MS);
    const next = randomKey();
    await place.write(header.from === to ? [key, next] : [next]);
    return { header: { from: to, id: next.id }, key: next };
  }

  async #fromNewPassphrase(): Promise<HeldKey> {
    const { environment } = this.#options;
    const passphrase =
      environment.TURNBUCKLE_NEW_PASSPHRASE ||
      (await this.#ask('create')) ||
      environment.TURNBUCKLE_PASSPHRASE;
    if (passphrase) return fromPassphrase(passphrase);
    throw secretsUnavailable(this.#options.file, 'There is no new passphrase for the vault.', {
      hint: 'Run it in a terminal to be asked, or set TURNBUCKLE_NEW_PASSPHRASE.',
    });
  }

  /** A key that lies there already is used: it may be that of a vault that was moved away for a while. */
  async #place(name: KeyPlaceName): Promise<HeldKey> {
    const place = await this.#open(name, PROBE_MS);
    const found = (await place.read()).at(-1);
    const key = found ?? randomKey();
    if (found === undefined) await place.write([key]);
    return { header: { from: name, id: key.id }, key };
  }

  async #derive(header: Extract<KeyHeader, { from: 'passphrase' }>): Promise<VaultKey> {
    const { file, environment } = this.#options;
    const passphrase = environment.TURNBUCKLE_PASSPHRASE || (await this.#ask('open'));
    if (!passphrase)
      throw secretsUnavailable(file, `The vault ${file} is locked with a passphrase.`, {
        hint: 'Run the command in a terminal to be asked, or set TURNBUCKLE_PASSPHRASE. A daemon asks nobody: set it where turnbuckle serve is started.',
      });
    const key = await deriveKey(passphrase, header);
    if (key.id === header.id) return key;
    throw secretsUnavailable(file, `This is not the passphrase of the vault ${file}.`, {
      hint: 'Try again. Without the passphrase nobody can open it.',
    });
  }

  async #fetch({ from, id }: Extract<KeyHeader, { from: KeyPlaceName }>): Promise<VaultKey> {
    const off = from === 'keychain' ? this.#keychainOff() : undefined;
    if (off !== undefined) throw this.#switchedOff(off);
    const place = await this.#open(from, UNLOCK_MS);
    const key = (await place.read()).find((one) => one.id === id);
    if (key !== undefined) return key;
    const { file, keyFile: keyPath } = this.#options;
    const where = from === 'file' ? `the file ${keyPath}` : 'the keychain';
    throw secretsUnavailable(file, `The key of the vault ${file} is not in ${where} any more.`, {
      hint: 'Bring the key back from a backup, or move the vault away and set the secrets again.',
    });
  }

  async #open(name: KeyPlaceName, timeoutMs: number): Promise<KeyPlace> {
    const { file, keyFile: path, environment, account, warn } = this.#options;
    if (name === 'file') return keyFile(path, warn);
    return keychain({ file, environment, timeoutMs, account: await account() });
  }

  #keychainOff(): string | undefined {
    if (!this.#options.keychain) return 'this program does not use one';
    return this.#options.environment.TURNBUCKLE_KEYCHAIN === 'off'
      ? 'TURNBUCKLE_KEYCHAIN is "off"'
      : undefined;
  }

  #switchedOff(why: string): Error {
    const { file } = this.#options;
    return secretsUnavailable(file, `The key of the vault ${file} is in the keychain, but ${why}.`, {
      hint: 'Switch the keychain on, and rotate if the key should be elsewhere: turnbuckle secrets rotate --to file',
    });
  }

  #ask(why: 'open' | 'create'): Promise<string | undefined> {
    return this.#options.passphrase?.(why) ?? Promise.resolve(undefined);
  }

  #remember(held: HeldKey): HeldKey {
    this.#known.set(held.key.id, Promise.resolve(held.key));
    return held;
  }
}

async function fromPassphrase(passphrase: string): Promise<HeldKey> {
  const derivation = newDerivation();
  const key = await deriveKey(passphrase, derivation);
  return { header: { from: 'passphrase', id: key.id, ...derivation }, key };
}
