/** A vault in its own directory, without the keychain of the user who runs the tests. */
import { readFile, writeFile } from 'node:fs/promises';
import { type TemporaryDirectory, temporaryDirectory } from '@turnbuckle/testing';
import { onTestFinished } from 'vitest';
import { createVault, type Vault, type VaultOptions } from '../../../src/vault/vault.js';

export interface OwnVault {
  readonly directory: TemporaryDirectory;
  readonly warnings: string[];
  /** Another instance on the same files, as another process would open it. */
  open(options?: Partial<VaultOptions>): Vault;
  text(name?: string): Promise<string>;
  write(text: string, name?: string): Promise<void>;
}

export const OFF = { TURNBUCKLE_KEYCHAIN: 'off' };

export async function ownVault(): Promise<OwnVault> {
  const directory = await temporaryDirectory();
  onTestFinished(() => directory.remove());
  const warnings: string[] = [];
  return {
    directory,
    warnings,
    open: (options) =>
      createVault({
        stateDir: directory.path,
        environment: OFF,
        onWarning: (message) => warnings.push(message),
        ...options,
      }),
    text: (name = 'vault.json') => readFile(directory.file(name), 'utf8'),
    write: (text, name = 'vault.json') => writeFile(directory.file(name), text),
  };
}
