import { fileURLToPath } from 'node:url';

interface Entry {
  readonly command: string;
  readonly args: string[];
}

/** The server with an argument of each kind. */
export const argumentServer: Entry = {
  command: process.execPath,
  args: [fileURLToPath(new URL('argument-server.mjs', import.meta.url))],
};

/** Leaves this file behind when it is started, and nothing else. */
export const tattletale = (file: string): Entry => ({ command: 'touch', args: [file] });
