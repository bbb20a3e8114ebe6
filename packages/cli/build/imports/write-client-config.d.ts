import type { ImportedInput, OutgoingServer, SkippedServer } from './imported-server.js';
export interface WriteTarget {
  readonly client: string;
  readonly file?: string;
  /** Writes them for this folder only, where the client has such a place. */
  readonly project?: string;
  /** What `${input:id}` asks for. */
  readonly inputs?: readonly ImportedInput[];
}
export interface WriteResult {
  /** The file's new text; absent when it cannot be edited without harm. */
  readonly text?: string;
  readonly notes: readonly {
    readonly name: string;
    readonly note: string;
  }[];
  readonly skipped: readonly SkippedServer[];
  readonly problems: readonly string[];
}
/** Never throws. `text` undefined or empty starts a file. The caller keeps the old text if it wants to undo. */
export declare function writeClientConfig(
  to: string | WriteTarget,
  text: string | undefined,
  servers: readonly OutgoingServer[],
): WriteResult;
