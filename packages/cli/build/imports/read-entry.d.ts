/** One entry of a client's file, read into our own shape. */
import { type Dialect } from './dialect.js';
import type { ServerDraft } from './imported-server.js';
import type { Entry } from './plain-value.js';
export type EntryOutcome =
  | {
      readonly config: ServerDraft;
      readonly notes: string[];
      readonly extra: Record<string, unknown>;
    }
  | {
      readonly reason: string;
    };
/** Never throws; `reason` says why an entry cannot be carried over. */
export declare function readEntry(raw: Entry, dialect: Dialect): EntryOutcome;
