/** Looks at values that came out of somebody's file; own keys only, so that `__proto__` is a name like others. */
export type Entry = Readonly<Record<string, unknown>>;
/** True for an object with keys: not null, not a list, not a date. */
export declare function isEntry(value: unknown): value is Entry;
/** The value of an own key, or undefined. */
export declare function own(value: unknown, key: string): unknown;
/** The value at the end of a chain of own keys, or undefined. */
export declare function ownAt(value: unknown, path: readonly string[]): unknown;
/** The texts in a list; empty for anything else. */
export declare function textsIn(value: unknown): string[];
/** The same entry without some keys. */
export declare function without(entry: Entry, ...keys: readonly string[]): Entry;
