/** The token of whoever owns the state directory: the only one that is kept readable, for the command line. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { readPrivateFile, replacePrivateFile } from '../instance/private-file.js';
import { isOwnToken } from './token-record.js';

const pathIn = (stateDir: string): string => join(stateDir, 'daemon-token');

/** Undefined when there is none yet, or it cannot be read. */
export function readOwnerToken(stateDir: string): string | undefined {
  try {
    const token = readPrivateFile(pathIn(stateDir))?.text.trim();
    return token !== undefined && isOwnToken(token) ? token : undefined;
  } catch {
    return undefined;
  }
}

export function writeOwnerToken(stateDir: string, token: string): void {
  // First away with what may be a link to elsewhere, or open to others.
  rmSync(pathIn(stateDir), { force: true });
  replacePrivateFile(pathIn(stateDir), `${token}\n`, { durable: true });
}
