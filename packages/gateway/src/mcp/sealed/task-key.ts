/** What ids of tasks are sealed with, kept so that tasks are still known after a restart. */
import { join } from 'node:path';
import { makeDirectory } from 'turnbuckle';
import { readPrivateFile, replacePrivateFile } from '../instance/private-file.js';
import { makeTaskKey } from './task-ids.js';

/** Made if there is none; where it cannot be kept, it is good until the end. */
export function keepTaskKey(stateDir: string): Buffer {
  const path = join(stateDir, 'task-key');
  try {
    const known = Buffer.from(readPrivateFile(path)?.text.trim() ?? '', 'base64url');
    if (known.length === 32) return known;
    const made = makeTaskKey();
    makeDirectory(stateDir);
    replacePrivateFile(path, `${made.toString('base64url')}\n`, { durable: true });
    return made;
  } catch {
    return makeTaskKey();
  }
}
