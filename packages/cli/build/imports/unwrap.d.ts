/**
 * Takes off programs that only carry a remote server over standard input and output: the server itself is
 * reached directly. Whatever is not fully understood stays as it is.
 */
import type { ServerDraft } from './imported-server.js';
export interface Unwrapped {
  readonly config: ServerDraft;
  readonly notes: readonly string[];
}
/** The same server without its wrapper, and a note that says so. */
export declare function unwrap(config: ServerDraft): Unwrapped;
