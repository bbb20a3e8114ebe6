/** Where the vault's key is stored: in a file next to the vault, or in the keychain of the operating system. */
import { KEY_BYTES, toVaultKey, type VaultKey } from './vault-key.js';

export type KeyLocationName = 'keychain' | 'file';

/** Holds one key, or two while a rotation is in progress, so that a crash leaves the vault readable. */
export interface KeyLocation {
  /** The stored keys, oldest first; empty if there are none. SECRETS_UNAVAILABLE if they cannot be read. */
  read(): Promise<readonly VaultKey[]>;
  /** Replaces all stored keys atomically; an empty list deletes them. */
  write(keys: readonly VaultKey[]): Promise<void>;
}

/** One line for each key. */
export const formatKeys = (keys: readonly VaultKey[]): string =>
  keys.map(({ bytes }) => `${bytes.toString('base64')}\n`).join('');

/** Undefined if a line is not a key: damaged content must not count as empty. */
export function parseKeys(text: string): readonly VaultKey[] | undefined {
  const lines = text.split('\n').filter((line) => line.trim() !== '' && !line.startsWith('#'));
  const keys = lines.map((line) => Buffer.from(line, 'base64'));
  return keys.every(({ length }) => length === KEY_BYTES) ? keys.map(toVaultKey) : undefined;
}
