/**
 * Secrets at rest: one encrypted file for all of them, replaced as a whole by one process at a time. It stores names
 * and texts, without knowing their purpose. Nothing is read, prompted for or created before the first use.
 */
import { createHash } from 'node:crypto';
import { realpath } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { retryableOnce } from '../async/retryable-once.js';
import { replaceFile } from '../files/atomic-file.js';
import { withFileLock } from '../files/file-lock.js';
import { makeDirectory } from '../files/make-directory.js';
import { fileStamp, type PrivateText } from '../files/private-file.js';
import { isRecord } from '../json/is-record.js';
import { secretsUnavailable, vaultDamaged, vaultFileError, withVaultErrors } from './vault-errors.js';
import { readVaultFile, restrictDirectory } from './vault-file.js';
import {
  type KeyHeader,
  openVaultText,
  parseVault,
  type SealedVault,
  sealVault,
  type VaultEntries,
  type VaultEntry,
} from './vault-format.js';
import type { VaultKey } from './vault-key.js';
import { type KeySource, VaultKeys, type VaultKeysOptions } from './vault-keys.js';

export type { KeySource } from './vault-keys.js';

export interface VaultOptions {
  /** The directory of `vault.json`; created when the first secret is stored. */
  readonly stateDir: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Prompts for the passphrase of the vault, or for a new one; undefined: there is none. */
  readonly passphrase?: VaultKeysOptions['passphrase'];
  /** False: never use a keychain. */
  readonly keychain?: boolean | undefined;
  /** Receives warnings about problems that were fixed. Default: a warning of the process. */
  readonly onWarning?: ((message: string) => void) | undefined;
  readonly now?: (() => number) | undefined;
}

/** The decrypted content, as this process last read it. */
interface OpenedVault {
  readonly stamp: string;
  /** False while a change within the clock's resolution could have produced the same stamp. */
  readonly settled: boolean;
  readonly header: KeyHeader;
  readonly key: VaultKey;
  readonly entries: VaultEntries;
}

interface Loaded extends Pick<OpenedVault, 'settled'> {
  readonly found: PrivateText;
  readonly sealed: SealedVault;
}

const CLOCK_RESOLUTION_MS = 50;
const MAX_READ_ATTEMPTS = 10;
const MAX_NAME_LENGTH = 16_384;
const MAX_VALUE_LENGTH = 1_048_576;

/** The vault of a state directory. Does not access the disk yet. */
export function createVault(options: VaultOptions): Vault {
  return new Vault(options);
}

/** Every method may throw SECRETS_UNAVAILABLE; a vault that cannot be opened is never written. */
export class Vault {
  readonly file: string;
  readonly #directory: string;
  readonly #now: () => number;
  readonly #warn: (message: string) => void;
  readonly #keys: VaultKeys;
  #opened: OpenedVault | undefined;
  readonly #restrictDirectory: () => Promise<void>;

  constructor({ stateDir, environment, passphrase, keychain, onWarning, now }: VaultOptions) {
    this.#directory = resolve(stateDir);
    this.file = join(this.#directory, 'vault.json');
    this.#now = now ?? Date.now;
    this.#warn = onWarning ?? ((message) => process.emitWarning(message, { code: 'TURNBUCKLE_SECRETS' }));
    this.#restrictDirectory = retryableOnce(() =>
      withVaultErrors(this.#directory, restrictDirectory(this.#directory, this.#warn)),
    );
    this.#keys = new VaultKeys({
      file: this.file,
      keyFile: join(this.#directory, 'vault.key'),
      account: () => this.#account(),
      environment,
      passphrase,
      keychain: keychain ?? true,
      warn: this.#warn,
    });
  }

  /** The current value, including changes by other processes. */
  async get(name: string): Promise<string | undefined> {
    return (await this.#read())?.entries.get(name)?.value;
  }

  async set(name: string, value: string): Promise<void> {
    await this.update(name, () => value);
  }

  /** True if there was one. */
  async delete(name: string): Promise<boolean> {
    let found = false;
    await this.update(name, (old) => {
      found = old !== undefined;
      return undefined;
    });
    return found;
  }

  /** Names and times, sorted; never values. */
  async list(): Promise<Array<{ readonly name: string; readonly updatedAt: string }>> {
    const entries = (await this.#read())?.entries ?? new Map<string, VaultEntry>();
    return [...entries]
      .map(([name, { updatedAt }]) => ({ name, updatedAt }))
      .sort((left, right) => (left.name < right.name ? -1 : 1));
  }

  /**
   * Reads and writes atomically, across processes: all other writers wait, so `change` should be quick, and must not
   * use this vault. Undefined removes the entry. Returns the new value.
   */
  async update(
    name: string,
    change: (old: string | undefined) => string | undefined | Promise<string | undefined>,
  ): Promise<string | undefined> {
    return this.#withLock(async () => {
      const opened = await this.#read();
      const old = opened?.entries.get(name)?.value;
      const value = await change(old);
      if (value === old) return value;
      checkEntry(this.file, name, value);
      const entries = new Map(opened?.entries);
      if (value === undefined) entries.delete(name);
      else entries.set(name, { value, updatedAt: new Date(this.#now()).toISOString() });
      await this.#write(entries, opened ?? (await this.#keys.create()));
      if (opened?.header.retire !== undefined) await this.#retire();
      return value;
    });
  }

  /**
   * Creates a new key, in the same kind of location unless `to` is given, and removes the old one. After a crash in
   * between, either key works.
   */
  async rotate(to?: KeySource): Promise<{ readonly from: KeySource; readonly to: KeySource }> {
    return this.#withLock(async () => {
      const old = await this.#read();
      if (old === undefined)
        throw secretsUnavailable(this.file, `There is no vault at ${this.file} yet.`, {
          hint: 'Set a secret first: turnbuckle secrets set <name>',
        });
      const next = await this.#keys.replace(old, to ?? old.header.from);
      await this.#write(old.entries, next);
      await this.#retire();
      return { from: old.header.from, to: next.header.from };
    });
  }

  /** Where the key is, without loading it; undefined if there is no vault. */
  async keySource(): Promise<KeySource | undefined> {
    return (await this.#load())?.sealed.key.from;
  }

  async #read(tries = 0): Promise<OpenedVault | undefined> {
    const stamp = await withVaultErrors(this.file, fileStamp(this.file));
    const known = this.#opened;
    if (stamp === undefined) {
      this.#opened = undefined;
      return undefined;
    }
    if (known?.settled && known.stamp === stamp) return known;
    const loaded = await this.#load();
    if (loaded === undefined) return undefined;
    const { found, sealed, settled } = loaded;
    const key = await this.#keys.find(sealed.key).catch((error: unknown) => error);
    if (!isKey(key)) {
      // The vault was rotated between reading it and finding its key: read both again.
      if (
        tries < MAX_READ_ATTEMPTS &&
        (await withVaultErrors(this.file, fileStamp(this.file))) !== found.stamp
      )
        return this.#read(tries + 1);
      throw key;
    }
    const entries = openVaultText(sealed, key);
    if (entries === undefined) throw vaultDamaged(this.file, 'its content does not match the key');
    const opened = { stamp: found.stamp, settled, header: sealed.key, key, entries };
    this.#opened = opened;
    return opened;
  }

  /** The parsed file, still encrypted. */
  async #load(): Promise<Loaded | undefined> {
    await this.#restrictDirectory();
    const now = this.#now();
    const found = await readVaultFile(this.file, this.#warn);
    if (found === undefined) return undefined;
    const sealed = parseVault(found.text);
    if (typeof sealed === 'string') throw vaultDamaged(this.file, sealed);
    return { found, sealed, settled: Math.abs(now - found.changedAtMs) > CLOCK_RESOLUTION_MS };
  }

  async #write(entries: VaultEntries, { header, key }: Pick<OpenedVault, 'header' | 'key'>): Promise<void> {
    this.#opened = undefined;
    try {
      await replaceFile(this.file, sealVault(entries, key, header));
    } catch (error) {
      throw vaultFileError(this.file, error);
    }
  }

  /** Removes the key from before the last rotation, if that is still pending; if it fails, the next writer does it. */
  async #retire(): Promise<void> {
    const opened = await this.#read();
    if (opened?.header.retire === undefined) return;
    try {
      await this.#keys.retire(opened.header.retire, opened);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      this.#warn(`Cannot delete the old vault key after the last key rotation: ${reason}`);
      return;
    }
    const { retire: _, ...header } = opened.header;
    await this.#write(opened.entries, { header, key: opened.key });
  }

  async #withLock<T>(work: () => Promise<T>): Promise<T> {
    let entered = false;
    try {
      makeDirectory(this.#directory);
      await this.#restrictDirectory();
      return await withFileLock(this.file, () => {
        entered = true;
        return work();
      });
    } catch (error) {
      // Errors of the work itself go to the caller unchanged.
      throw entered ? error : vaultFileError(this.file, error);
    }
  }

  /** The same for every way to write the directory's path. */
  async #account(): Promise<string> {
    const directory = await realpath(this.#directory).catch(() => this.#directory);
    return createHash('sha256').update(directory).digest('hex').slice(0, 32);
  }
}

const isKey = (found: VaultKey | unknown): found is VaultKey => isRecord(found) && 'bytes' in found;

function checkEntry(file: string, name: string, value: string | undefined): void {
  const wrong =
    name === '' || name.length > MAX_NAME_LENGTH
      ? `the name must have 1 to ${MAX_NAME_LENGTH} characters`
      : value !== undefined && value.length > MAX_VALUE_LENGTH
        ? `the value has more than ${MAX_VALUE_LENGTH} characters`
        : undefined;
  if (wrong === undefined) return;
  throw secretsUnavailable(file, `Cannot store the secret: ${wrong}.`, {
    hint: 'Use a shorter name or value.',
  });
}
