/**
 * Determines whether a file really does not exist. A broken link exists, and so does something in the place of its
 * directory: the file's content is then unknown, which is not the same as empty.
 */
import { lstat, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { errorCode } from '../errors.js';
import { errorWithCode, withTimeout } from './read-file.js';

/**
 * For a path that could not be read: ENOENT if it certainly does not exist, otherwise the error that explains why.
 * Undefined if it exists now.
 */
export async function whyMissing(path: string, error: unknown): Promise<unknown> {
  const code = errorCode(error);
  if (code !== 'ENOENT' && code !== 'ENOTDIR') return error;
  return withTimeout(path, () => findCause(path)).catch((later: unknown) => later);
}

/** From the file upwards, to the first path that exists. */
async function findCause(path: string): Promise<unknown> {
  for (let [part, isFile] = [path, true]; ; [part, isFile] = [dirname(part), false]) {
    const found = await undefinedIfMissing(stat(part));
    if (found !== undefined && isFile) return undefined;
    // Neither a directory nor a file: /dev/null, for users without a home directory.
    if (found !== undefined) return errorWithCode(found.isFile() ? 'ENOTDIR' : 'ENOENT');
    if ((await undefinedIfMissing(lstat(part)))?.isSymbolicLink()) return errorWithCode('EDANGLING');
    if (dirname(part) === part) return errorWithCode('ENOENT');
  }
}

async function undefinedIfMissing<Facts>(looking: Promise<Facts>): Promise<Facts | undefined> {
  try {
    return await looking;
  } catch (error) {
    const code = errorCode(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw error;
  }
}
