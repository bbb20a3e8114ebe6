/**
 * Secrets at rest: one encrypted file for all of them, changed as a whole by one process at a time. It knows
 * names and texts, not what they are for. Nothing is read, asked for or created before the first use.
 */
import { createHash } from 'node:crypto';
import { realpath } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { replaceFile } from '../config/edit/atomic-file.js';
import { withFileLock } from '../config/edit/file-lock.js';
import { makeDirectory } from '../config/edit/make-directory.js';
import { isRecord } from '../is-record.js';
import { retryableOnce } from '../retryable-once.js';
import { damaged, secretsUnavailable, unusable } from './vault-errors.js';
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
import { closeDirectory, type PrivateText, readPrivate, stampOfFile } from './vault-private-file.js';

export type { KeySource } from './vault-keys.js';

export interface VaultOptions {
  /** The directory of `vault.json`; created when something is kept. */
  readonly stateDir: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Asks for the passphrase of the vault, or for that of a new one; undefined: there is none. */
  readonly passphrase?: VaultKeysOptions['passphrase'];
  /** False: no keychain, whether one answers or not. */
  readonly keychain?: boolean | undefined;
  /** Told what was not as it should be and was put right. Absent: a warning of the process. */
  readonly onWarning?: ((message: string) => void) | undefined;
  readonly now?: (() => number) | undefined;
}

/** What is in the vault now, as this process last saw it. */
interface Opened {
  readonly stamp: string;
  /** False while a change within the clock's resolution could have left the same stamp. */
  readonly settled: boolean;
  readonly header: KeyHeader;
  readonly key: VaultKey;
  readonly entries: VaultEntries;
}

interface Loaded extends Pick<Opened, 'settled'> {
  readonly found: PrivateText;
  readonly sealed: SealedVault;
}

const CLOCK_STEP_MS = 50;
const MOST_TRIES = 10;
const MAX_NAME = 16_384;
const MAX_VALUE = 1_048_576;

/** The vault of a state directory. Does not touch the disk yet. */
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
  #opened: Opened | undefined;
  readonly #closeDirectory: () => Promise<void>;

  constructor({ stateDir, environment, passphrase, keychain, onWarning, now }: VaultOptions) {
    this.#directory = resolve(stateDir);
    this.file = join(this.#directory, 'vault.json');
    this.#now = now ?? Date.now;
    this.#warn = onWarning ?? ((message) => process.emitWarning(message, { code: 'TURNBUCKLE_SECRETS' }));
    this.#closeDirectory = retryableOnce(() => closeDirectory(this.#directory, this.#warn));
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

  /** The value as it is now, also when another process changed it a moment ago. */
  async get(name: string): Promise<string | undefined> {
    return (await this.#read())?.entries.get(name)?.value;
  }

  async set(name: string, value: string): Promise<void> {
    await this.update(name, () => value);
  }

  /** True when there was one. */
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
   * Reads and writes with nobody in between, here or in another process: all other writers wait, so `change`
   * should be quick, and must not use this vault. Undefined removes the entry. Answers the new value.
   */
  async update(
    name: string,
    change: (old: string | undefined) => string | undefined | Promise<string | undefined>,
  ): Promise<string | undefined> {
    return this.#exclusively(async () => {
      const opened = await this.#read();
      const old = opened?.entries.get(name)?.value;
      const value = await change(old);
      if (value === old) return value;
      check(this.file, name, value);
      const entries = new Map(opened?.entries);
      if (value === undefined) entries.delete(name);
      else entries.set(name, { value, updatedAt: new Date(this.#now()).toISOString() });
      await this.#write(entries, opened ?? (await this.#keys.create()));
      if (opened?.header.retire !== undefined) await this.#retire();
      return value;
    });
  }

  /** A new key, in the same kind of place unless told otherwise; the old one is gone. Killed in the middle, either works. */
  async rotate(to?: KeySource): Promise<{ readonly from: KeySource; readonly to: KeySource }> {
    return this.#exclusively(async () => {
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

  /** Where the key is, without asking for it; undefined while there is no vault. */
  async keySource(): Promise<KeySource | undefined> {
    return (await this.#load())?.sealed.key.from;
  }

  async #read(tries = 0): Promise<Opened | undefined> {
    const stamp = await stampOfFile(this.file);
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
      // Rotated between our look at the vault and our look for its key: both are others now.
      if (tries < MOST_TRIES && (await stampOfFile(this.file)) !== found.stamp) return this.#read(tries + 1);
      throw key;
    }
    const entries = openVaultText(sealed, key);
    if (entries === undefined)
      throw damaged(this.file, 'it was changed by somebody who does not have its key');
    const opened = { stamp: found.stamp, settled, header: sealed.key, key, entries };
    this.#opened = opened;
    return opened;
  }

  /** What the file says, still sealed. */
  async #load(): Promise<Loaded | undefined> {
    await this.#closeDirectory();
    const now = this.#now();
    const found = await readPrivate(this.file, this.#warn);
    if (found === undefined) return undefined;
    const sealed = parseVault(found.text);
    if (typeof sealed === 'string') throw damaged(this.file, sealed);
    return { found, sealed, settled: Math.abs(now - found.changedAtMs) > CLOCK_STEP_MS };
  }

  async #write(entries: VaultEntries, { header, key }: Pick<Opened, 'header' | 'key'>): Promise<void> {
    this.#opened = undefined;
    try {
      await replaceFile(this.file, sealVault(entries, key, header));
    } catch (error) {
      throw unusable(this.file, error);
    }
  }

  /** Removes the key before the last rotation, if that is still to be done; what fails is done by the next writer. */
  async #retire(): Promise<void> {
    const opened = await this.#read();
    if (opened?.header.retire === undefined) return;
    try {
      await this.#keys.retire(opened.header.retire, opened);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      this.#warn(`The key before the last rotation could not be removed: ${reason}`);
      return;
    }
    const { retire: _, ...header } = opened.header;
    await this.#write(opened.entries, { header, key: opened.key });
  }

  async #exclusively<T>(work: () => Promise<T>): Promise<T> {
    let entered = false;
    try {
      makeDirectory(this.#directory);
      await this.#closeDirectory();
      return await withFileLock(this.file, () => {
        entered = true;
        return work();
      });
    } catch (error) {
      // What the work itself threw is its caller's.
      throw entered ? error : unusable(this.file, error);
    }
  }

  /** The same for every spelling of the directory's path. */
  async #account(): Promise<string> {
    const directory = await realpath(this.#directory).catch(() => this.#directory);
    return createHash('sha256').update(directory).digest('hex').slice(0, 32);
  }
}

const isKey = (found: VaultKey | unknown): found is VaultKey => isRecord(found) && 'bytes' in found;

function check(file: string, name: string, value: string | undefined): void {
  const wrong =
    name === '' || name.length > MAX_NAME
      ? `its name must have 1 to ${MAX_NAME} characters`
      : value !== undefined && value.length > MAX_VALUE
        ? `it has more than ${MAX_VALUE} characters`
        : undefined;
  if (wrong === undefined) return;
  throw secretsUnavailable(file, `A secret cannot be kept: ${wrong}.`, {
    hint: 'Keep large things elsewhere.',
  });
}
