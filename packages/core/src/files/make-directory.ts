/** Directories for files that are about to be written. */
import { existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Makes the directory and those above it, by default for their owner only; answers the uppermost that was made. Step by
 * step: with `recursive`, Node tries for ever where the system says that a directory is missing which is there, as in /proc.
 */
export function makeDirectory(path: string, mode = 0o700): string | undefined {
  const isThere = (): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  if (isThere()) return undefined;
  const above = dirname(path);
  const made = above !== path && !existsSync(above) ? makeDirectory(above, mode) : undefined;
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    // Another process may have been faster.
    if (!isThere()) throw error;
    return made;
  }
  return made ?? path;
}
