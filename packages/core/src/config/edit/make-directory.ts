/** Directories for what is kept between runs. */
import { existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Makes the directory and those above it, for their owner only. Step by step: with `recursive`, Node tries for ever where
 * the system says that a directory is missing which is there, such as /proc.
 */
export function makeDirectory(path: string): void {
  const isThere = (): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  if (isThere()) return;
  const above = dirname(path);
  if (above !== path && !existsSync(above)) makeDirectory(above);
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    // Another process may have been faster.
    if (!isThere()) throw error;
  }
}
