/** One server of ours in a client's own dialect. */
import { type Dialect } from './dialect.js';
export type WrittenEntry =
  | {
      readonly entry: Record<string, unknown>;
      readonly notes: readonly string[];
    }
  | {
      readonly reason: string;
    };
export interface WriteContext {
  readonly dialect: Dialect;
  /** How the client is called in notes. */
  readonly label: string;
  /** True when the file can say elsewhere that a server is off. */
  readonly switchedElsewhere: boolean;
}
/** `reason` says why the client cannot have this server; `notes` what it cannot have of it. */
export declare function writeEntry(
  config: Readonly<Record<string, unknown>>,
  context: WriteContext,
): WrittenEntry;
/** Every key of an entry that the writer may set or remove; others belong to the client's user. */
export declare function ownedKeys(dialect: Dialect): ReadonlySet<string>;
