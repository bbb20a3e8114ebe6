/** Reads a discovered file, never more of it than the bound, and never throws. */
import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';
import type { ReadOptions } from './client.js';
import type { DiscoveredFile } from './discover.js';
import type { ImportResult } from './entries/imported-server.js';
import { MAX_FILE_BYTES } from './formats/parse-text.js';
import { readClientConfig } from './read-client-config.js';

/** The file's servers; its scope is the one it was found in. */
export function readDiscovered(
  file: DiscoveredFile,
  options: Omit<ReadOptions, 'file' | 'scope'> = {},
): ImportResult {
  const text = file.problem === undefined ? readBounded(file.path) : { problem: file.problem };
  if ('problem' in text) return { servers: [], skipped: [], problems: [text.problem], inputs: [] };
  return readClientConfig(file.client, text.text, { ...options, file: file.path, scope: file.scope });
}

/** A pipe that a project brings along is not waited for. */
const OPEN_FLAGS = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

function readBounded(path: string): { text: string } | { problem: string } {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(path, OPEN_FLAGS);
    const found = fstatSync(descriptor);
    if (!found.isFile()) return { problem: 'it is not a regular file' };
    if (found.size > MAX_FILE_BYTES) return { problem: 'the file is larger than 5 MB' };
    return { text: readFileSync(descriptor, 'utf8') };
  } catch (error) {
    return { problem: `the file cannot be read (${error instanceof Error ? error.message : String(error)})` };
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}
