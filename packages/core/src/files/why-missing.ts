/**
 * Whether a file is really not there. A link that leads nowhere is there, and so is what stands in the place of its
 * directory: what the file said is then not known, which is not the same as that it said nothing.
 */
import { lstat, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { coded, codeOf, inTime } from './read-file.js';

/**
 * For a path at which nothing could be looked at: ENOENT where it is certainly not there, else the error that says why.
 * Undefined where it is there now.
 */
export async function whyMissing(path: string, error: unknown): Promise<unknown> {
  const code = codeOf(error);
  if (code !== 'ENOENT' && code !== 'ENOTDIR') return error;
  return inTime(path, () => look(path)).catch((later: unknown) => later);
}

/** From the file upwards, to what is there. */
async function look(path: string): Promise<unknown> {
  for (let [part, isFile] = [path, true]; ; [part, isFile] = [dirname(part), false]) {
    const found = await unlessMissing(stat(part));
    if (found !== undefined && isFile) return undefined;
    // Neither a directory nor a file: /dev/null, where somebody has no home at all.
    if (found !== undefined) return coded(found.isFile() ? 'ENOTDIR' : 'ENOENT');
    if ((await unlessMissing(lstat(part)))?.isSymbolicLink()) return coded('EDANGLING');
    if (dirname(part) === part) return coded('ENOENT');
  }
}

async function unlessMissing<Facts>(looking: Promise<Facts>): Promise<Facts | undefined> {
  try {
    return await looking;
  } catch (error) {
    const code = codeOf(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw error;
  }
}
