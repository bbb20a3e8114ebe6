/** Reads a discovered file, never more of it than the bound, and never throws. */
import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs';
import { MAX_FILE_BYTES } from './parse-text.js';
import { readClientConfig } from './read-client-config.js';
/** The file's servers; its scope is the one it was found in. */
export function readDiscovered(file, options = {}) {
  const text = file.problem === undefined ? readBounded(file.path) : { problem: file.problem };
  if ('problem' in text) return { servers: [], skipped: [], problems: [text.problem], inputs: [] };
  return readClientConfig(file.client, text.text, { ...options, file: file.path, scope: file.scope });
}
function readBounded(path) {
  let descriptor;
  try {
    descriptor = openSync(path, 'r');
    const found = fstatSync(descriptor);
    if (!found.isFile()) return { problem: 'is not a file' };
    if (found.size > MAX_FILE_BYTES) return { problem: 'is larger than 5 MB' };
    return { text: readFileSync(descriptor, 'utf8') };
  } catch (error) {
    return { problem: `cannot be read: ${error instanceof Error ? error.message : String(error)}` };
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}
//# sourceMappingURL=read-discovered.js.map
