/** Every client whose files we read and write, in the order in which the first one wins. */
import type { Client } from './client.js';
export declare const CLIENTS: readonly Client[];
/** Undefined for an id that is not in the table. */
export declare function clientById(id: string): Client | undefined;
