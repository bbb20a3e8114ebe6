/** Reads values from an untrusted file; own keys only, so that `__proto__` is an ordinary name. */

export type Entry = Readonly<Record<string, unknown>>;

/** True for an object with keys: not null, not a list, not a date. */
export function isEntry(value: unknown): value is Entry {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** The value of an own key, or undefined. */
export function ownValue(value: unknown, key: string): unknown {
  return isEntry(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}

/** The value at the end of a chain of own keys, or undefined. */
export function ownValueAt(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(ownValue, value);
}

/** The texts in a list; empty for anything else. */
export function stringsIn(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item): item is string => typeof item === 'string') : [];
}

/** The same entry without some keys. */
export function omitKeys(entry: Entry, ...keys: readonly string[]): Entry {
  return Object.fromEntries(Object.entries(entry).filter(([key]) => !keys.includes(key)));
}
