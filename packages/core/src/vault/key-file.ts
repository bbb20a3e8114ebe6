/** The vault's key in a file beside it, for its owner only. */
import { unlink } from 'node:fs/promises';
import { replaceFile } from '../config/edit/atomic-file.js';
import { formatKeys, type KeyPlace, parseKeys } from './key-place.js';
import { secretsUnavailable, unusable } from './vault-errors.js';
import { readPrivate, type Warn } from './vault-private-file.js';

const REMARK = '# The key of vault.json. Whoever has both files can read what is in it.\n';

export function keyFile(file: string, warn: Warn): KeyPlace {
  return {
    async read() {
      const found = await readPrivate(file, warn);
      const keys = found === undefined ? [] : parseKeys(found.text);
      if (keys !== undefined) return keys;
      throw secretsUnavailable(file, `The key file ${file} is damaged.`, {
        hint: 'Bring it back from a backup; without it the vault cannot be opened.',
      });
    },
    async write(keys) {
      try {
        if (keys.length > 0) await replaceFile(file, REMARK + formatKeys(keys));
        else await unlink(file);
      } catch (error) {
        const absent = error instanceof Error && 'code' in error && error.code === 'ENOENT';
        if (keys.length > 0 || !absent) throw unusable(file, error);
      }
    },
  };
}
