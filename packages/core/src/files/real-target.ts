/**
 * Finds the real path of a configuration file, so that replacing it keeps the symbolic links to it. Synchronous, so
 * that edits wait for the lock in the order of their requests.
 */
import { lstatSync, readlinkSync, realpathSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { errorCode, TurnbuckleError } from '../errors.js';

const MAX_LINKS = 40;

/**
 * The file behind all symbolic links; it need not exist yet. CONFIG_INVALID for a loop of links and for anything but
 * a regular file.
 */
export function realTarget(path: string): string {
  let current = resolve(path);
  for (let links = 0; links <= MAX_LINKS; links += 1) {
    const directory = realDirectory(dirname(current), path);
    current = join(directory, basename(current));
    const stat = lstatSync(current, { throwIfNoEntry: false });
    if (stat === undefined || stat.isFile()) return current;
    if (!stat.isSymbolicLink()) throw unusableFile(path, 'is not a regular file', { at: current });
    current = resolve(directory, readlinkSync(current));
  }
  throw linkLoop(path);
}

/** A directory that does not exist yet is kept as written: it is created with the file. */
function realDirectory(directory: string, path: string): string {
  try {
    return realpathSync(directory);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return directory;
    if (errorCode(error) === 'ELOOP') throw linkLoop(path);
    throw error;
  }
}

const linkLoop = (path: string): TurnbuckleError => unusableFile(path, 'leads to a loop of symbolic links');

function unusableFile(file: string, text: string, data: Record<string, unknown> = {}): TurnbuckleError {
  return new TurnbuckleError('CONFIG_INVALID', `The configuration file ${file} ${text}.`, {
    hint: 'Specify the path of a regular file, or of a link to one.',
    data: { file, ...data },
  });
}
