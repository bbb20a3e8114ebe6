import type { Scope } from './imported-server.js';
import { type Place } from './lookout.js';
export interface DiscoveredFile {
  readonly client: string;
  readonly scope: Scope;
  readonly path: string;
  /** Other clients that read the same file. */
  readonly alsoFor: readonly string[];
  /** Why the file is there and yet is not to be read. */
  readonly problem?: string;
}
/** The part of a file system that is needed; `node:fs` unless a test gives another. */
export interface FileLook {
  size(path: string): number | undefined;
  /** The path with every link followed. */
  real(path: string): string;
  names(folder: string): readonly string[];
}
export interface DiscoverOptions extends Place {
  readonly files?: FileLook;
}
/** Every file that exists, in the order of the table of clients; never throws. */
export declare function discover({ files, ...place }: DiscoverOptions): DiscoveredFile[];
