/** The key that seals task ids, stored so that tasks are still known after a restart. */
import { join } from 'node:path';
import { makeDirectory, readPrivateFileSync, replacePrivateFile } from 'turnbuckle/host';
import { makeTaskKey } from './task-ids.js';

/** Created if there is none; if it cannot be stored, it is valid until the process ends. */
export function loadOrCreateTaskKey(stateDir: string): Buffer {
  const path = join(stateDir, 'task-key');
  try {
    const known = Buffer.from(readPrivateFileSync(path)?.text.trim() ?? '', 'base64url');
    if (known.length === 32) return known;
    const made = makeTaskKey();
    makeDirectory(stateDir);
    replacePrivateFile(path, `${made.toString('base64url')}\n`, { durable: true });
    return made;
  } catch {
    return makeTaskKey();
  }
}
