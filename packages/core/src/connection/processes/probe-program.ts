import { delimiter, isAbsolute, join, resolve } from 'node:path';
import { factsOf, reach } from '../config/read-file.js';

export interface ProgramPlace {
  readonly path: string | undefined;
  /** Where the process is to start. */
  readonly directory: string;
}

/** Looks where the system will look for a program, in its order. Rejects where it would wait for a drive that is away. */
export async function reachProgram(command: string, { path = '', directory }: ProgramPlace): Promise<void> {
  if (/[\\/]/.test(command)) return reach(resolve(directory, command));
  for (const place of path.split(delimiter)) {
    const file = join(isAbsolute(place) ? place : resolve(directory, place), command);
    await reach(file);
    if ((await factsOf(file))?.isFile() === true) return;
  }
}
