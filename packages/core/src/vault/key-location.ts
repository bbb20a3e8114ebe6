/** A place that keeps the vault's key: a file beside the vault, or the keychain of the operating system. */
import { KEY_BYTES, toVaultKey, type VaultKey } from './vault-key.js';

export type KeyPlaceName = 'keychain' | 'file';

/** Holds one key; two for as long as a rotation takes, so that a crash leaves the vault readable. */
export interface KeyPlace {
  /** What lies there, oldest first; none when nothing does. SECRETS_UNAVAILABLE when it cannot be told. */
  read(): Promise<readonly VaultKey[]>;
  /** Replaces what lies there, at once and as a whole; no keys: nothing is left there. */
  write(keys: readonly VaultKey[]): Promise<void>;
}

/** One line for each key. */
export const formatKeys = (keys: readonly VaultKey[]): string =>
  keys.map(({ bytes }) => `${bytes.toString('base64')}\n`).join('');

/** Undefined when a line is no key: what is damaged must not be taken for empty. */
export function parseKeys(text: string): readonly VaultKey[] | undefined {
  const lines = text.split('\n').filter((line) => line.trim() !== '' && !line.startsWith('#'));
  const keys = lines.map((line) => Buffer.from(line, 'base64'));
  return keys.every(({ length }) => length === KEY_BYTES) ? keys.map(toVaultKey) : undefined;
}
