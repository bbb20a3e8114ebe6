/** The token of the owner of the state directory: the only one stored in plain text, for the command line. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { readPrivateFileSync, replacePrivateFile } from 'turnbuckle/host';
import { isOwnToken } from './token-record.js';

const ownerTokenPath = (stateDir: string): string => join(stateDir, 'daemon-token');

/** Undefined if there is none yet, or it cannot be read. */
export function readOwnerToken(stateDir: string): string | undefined {
  try {
    const token = readPrivateFileSync(ownerTokenPath(stateDir))?.text.trim();
    return token !== undefined && isOwnToken(token) ? token : undefined;
  } catch {
    return undefined;
  }
}

export function writeOwnerToken(stateDir: string, token: string): void {
  // First remove a file that may be a symbolic link, or accessible to others.
  rmSync(ownerTokenPath(stateDir), { force: true });
  replacePrivateFile(ownerTokenPath(stateDir), `${token}\n`, { durable: true });
}
