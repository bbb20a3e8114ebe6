import { realpathSync } from 'node:fs';
import { resolve } from 'node:path';

/** The command that runs this program with other arguments. */
export const ownCommand = (...words: readonly string[]): { command: string; args: string[] } => ({
  command: process.execPath,
  args: [ownFile(), ...words],
});

/** The file that Node was started with, links followed. */
export const ownFile = (): string => realpathSync(resolve(process.argv[1] ?? ''));
