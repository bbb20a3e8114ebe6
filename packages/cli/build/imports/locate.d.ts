/** Finds the servers in a document: a map by name or a list of named entries, wherever the dialect says. */
import type { LocatedEntry } from './client.js';
import type { Dialect } from './dialect.js';
/** The entries of every container that is there; a container of another kind is an entry that is left out. */
export declare function locateEntries(root: unknown, { container, alsoIn }: Dialect): LocatedEntry[];
/** The entries of one container. */
export declare function entriesOf(servers: unknown, spot: string): LocatedEntry[];
