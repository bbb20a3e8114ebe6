import { delimiter, isAbsolute, join, resolve } from 'node:path';
import { probePath, statOrUndefined } from '../../files/read-file.js';

export interface ProgramLocation {
  readonly path: string | undefined;
  /** The working directory of the process. */
  readonly directory: string;
}

/**
 * Searches for a program where the system will, in the same order. Rejects if it would block on an unavailable drive.
 */
export async function probeProgram(
  command: string,
  { path = '', directory }: ProgramLocation,
): Promise<void> {
  if (/[\\/]/.test(command)) return probePath(resolve(directory, command));
  for (const place of path.split(delimiter)) {
    const file = join(isAbsolute(place) ? place : resolve(directory, place), command);
    await probePath(file);
    if ((await statOrUndefined(file))?.isFile() === true) return;
  }
}
