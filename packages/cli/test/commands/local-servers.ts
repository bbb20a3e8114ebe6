import { fileURLToPath } from 'node:url';

interface Entry {
  readonly command: string;
  readonly args: string[];
}

/** The server with an argument of each type. */
export const argumentServer: Entry = {
  command: process.execPath,
  args: [fileURLToPath(new URL('argument-server.mjs', import.meta.url))],
};

/** A command that creates this file when it is started: the file shows that it ran. */
export const tattletale = (file: string): Entry => ({ command: 'touch', args: [file] });
