import type { ReadOptions } from './client.js';
import type { DiscoveredFile } from './discover.js';
import type { ImportResult } from './imported-server.js';
/** The file's servers; its scope is the one it was found in. */
export declare function readDiscovered(
  file: DiscoveredFile,
  options?: Omit<ReadOptions, 'file' | 'scope'>,
): ImportResult;
