/** Files whose client nobody named: the container's key, or the look of the entries, tells the dialect. */
import type { Client, LocatedEntry } from './client.js';
import type { Dialect } from './dialect.js';
/** Reads what nobody else claims; writes the form that most clients understand. */
export declare const generic: Client;
export interface Recognised {
  readonly dialect: Dialect;
  readonly entries: readonly LocatedEntry[];
}
/** Undefined when nothing in the document looks like servers. */
export declare function recognise(root: unknown): Recognised | undefined;
