/** Creates directories for files that are about to be written. */
import { existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Creates the directory and its parents, by default for their owner only; returns the topmost one created. Step by
 * step: with `recursive`, Node loops forever if the system reports an existing directory as missing, as in /proc.
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
