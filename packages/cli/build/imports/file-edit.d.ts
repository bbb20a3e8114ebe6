/** What a writer wants of a file, apart from its format; and the plain model that every edit is held against. */
import { type Entry } from './plain-value.js';
export interface ServerEdit {
  readonly name: string;
  readonly entry: Entry;
}
export interface FileEdit {
  readonly container: readonly string[];
  /** True: the container is a list whose entries have a `name`. */
  readonly list: boolean;
  /** True: entries carry their name inside. */
  readonly named: boolean;
  readonly servers: readonly ServerEdit[];
  /** Keys that may be removed from an entry that is already there; its other keys stay. */
  readonly owned: ReadonlySet<string>;
  /** Values elsewhere in the file; undefined removes. */
  readonly settings: readonly {
    readonly path: readonly string[];
    readonly value: unknown;
  }[];
}
/** The entry that shall stand in the file: the written keys, and what its user added. */
export declare function mergedEntry(existing: unknown, { name, entry }: ServerEdit, edit: FileEdit): Entry;
/** The position of a named entry in a list, or -1. */
export declare function indexOfNamed(list: unknown, name: string): number;
/** The same document with the edit done, as plain values; nothing is changed in place. */
export declare function editedValue(root: unknown, edit: FileEdit): unknown;
