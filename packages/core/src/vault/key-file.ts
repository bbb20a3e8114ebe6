/** The vault's key in a file next to it, readable only by its owner. */
import { unlink } from 'node:fs/promises';
import { errorCode } from '../errors.js';
import { replaceFile } from '../files/atomic-file.js';
import { formatKeys, type KeyLocation, parseKeys } from './key-location.js';
import { secretsUnavailable, vaultFileError } from './vault-errors.js';
import { readVaultFile, type Warn } from './vault-file.js';

const FILE_COMMENT =
  '# The key that decrypts vault.json. Anyone who has both files can read the secrets in the vault.\n';

export function keyFile(file: string, warn: Warn): KeyLocation {
  return {
    async read() {
      const found = await readVaultFile(file, warn);
      const keys = found === undefined ? [] : parseKeys(found.text);
      if (keys !== undefined) return keys;
      throw secretsUnavailable(file, `The key file ${file} is damaged.`, {
        hint: 'Restore it from a backup. The vault cannot be opened without it.',
      });
    },
    async write(keys) {
      try {
        if (keys.length > 0) await replaceFile(file, FILE_COMMENT + formatKeys(keys));
        else await unlink(file);
      } catch (error) {
        const absent = errorCode(error) === 'ENOENT';
        if (keys.length > 0 || !absent) throw vaultFileError(file, error);
      }
    },
  };
}
