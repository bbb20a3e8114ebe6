/**
 * Where a configuration file really is, so that replacing it keeps the symbolic links that lead to it.
 * Synchronous, so that edits wait for the lock in the order in which they were asked for.
 */
import { lstatSync, readlinkSync, realpathSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { TurnbuckleError } from '../../errors.js';
import { errorCode } from './process-identity.js';

const MAX_LINKS = 40;

/**
 * The file behind all symbolic links; it need not exist yet. CONFIG_INVALID for a loop of links and for
 * something that is not a regular file.
 */
export function realTarget(path: string): string {
  let current = resolve(path);
  for (let links = 0; links <= MAX_LINKS; links += 1) {
    const directory = realDirectory(dirname(current), path);
    current = join(directory, basename(current));
    const stat = lstatSync(current, { throwIfNoEntry: false });
    if (stat === undefined || stat.isFile()) return current;
    if (!stat.isSymbolicLink()) throw unusable(path, 'is not a regular file', { at: current });
    current = resolve(directory, readlinkSync(current));
  }
  throw looped(path);
}

/** A directory that does not exist yet is left as it is written: whoever creates the file creates it. */
function realDirectory(directory: string, path: string): string {
  try {
    return realpathSync(directory);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return directory;
    if (errorCode(error) === 'ELOOP') throw looped(path);
    throw error;
  }
}

const looped = (path: string): TurnbuckleError =>
  unusable(path, 'is a symbolic link that leads back to itself');

function unusable(file: string, text: string, data: Record<string, unknown> = {}): TurnbuckleError {
  return new TurnbuckleError('CONFIG_INVALID', `The configuration file ${file} ${text}.`, {
    hint: 'Give the path of a regular file, or of a link to one.',
    data: { file, ...data },
  });
}
