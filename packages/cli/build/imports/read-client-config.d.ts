/** Reads a client's file: every entry becomes a server of ours or is left out with a reason. */
import type { Client, ReadOptions } from './client.js';
import type { ImportResult } from './imported-server.js';
import { type FileFormat } from './parse-text.js';
/** Never throws: what is wrong with the file is in `problems`, with an entry in `skipped`. */
export declare function readClientConfig(clientId: string, text: string, options?: ReadOptions): ImportResult;
/** A file whose client is not known: the shape tells. */
export declare function readUnknownConfig(text: string, options?: ReadOptions): ImportResult;
/** What our own configuration refuses as a name, and what could do harm as a key. */
export declare function nameFault(name: string): string | undefined;
/** Several clients take more than one format for the same file; the ending decides. */
export declare function formatOf(client: Client, file: string | undefined): FileFormat;
