/** Keeps the files and the directory of the vault for their owner only. Closes what others could read, with a warning. */
import { chmod, stat } from 'node:fs/promises';
import { errorCode } from '../errors.js';
import { type PrivateText, readPrivateFile } from '../files/private-file.js';
import { withVaultErrors } from './vault-errors.js';

export type Warn = (message: string) => void;

const GROUP_AND_OTHERS = 0o077;
const GROUP_AND_OTHERS_WRITE = 0o022;
const STICKY = 0o1000;

/** Undefined when it does not exist; SECRETS_UNAVAILABLE when it cannot be used. */
export const readVaultFile = (file: string, warn: Warn): Promise<PrivateText | undefined> =>
  withVaultErrors(
    file,
    readPrivateFile(file, () =>
      warn(
        `Other users could read ${file}. Its permissions now give access only to you. If another user may have read the file, rotate the key: turnbuckle secrets rotate`,
      ),
    ),
  );

/** Removes access for other users, if the directory is ours. */
export async function restrictDirectory(directory: string, warn: Warn): Promise<void> {
  if (process.platform === 'win32') return;
  try {
    const { uid, mode } = await stat(directory);
    if ((mode & GROUP_AND_OTHERS) === 0) return;
    // A directory of another user, or a shared one such as /tmp, keeps its permissions.
    if (uid === process.getuid?.() && (mode & STICKY) === 0) {
      await chmod(directory, 0o700);
      warn(`Other users could list ${directory}. Its permissions now give access only to you.`);
    } else if ((mode & GROUP_AND_OTHERS_WRITE) !== 0)
      warn(
        `Other users can write to ${directory}, which holds your secrets. Use a directory that only you can write to.`,
      );
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
  }
}
