/** Keys of a map inside an entry, spelled with a dot: `oauth.clientId`. */
import { type Entry, isEntry, omitKeys } from '../formats/plain-value.js';

/** Takes apart the maps that some of these keys are in. */
export function flattenKeys(entry: Entry, keys: readonly string[]): Entry {
  const maps = new Set(keys.flatMap((key) => (key.includes('.') ? [key.slice(0, key.indexOf('.'))] : [])));
  return [...maps].reduce((flat, map) => {
    const inner = Object.hasOwn(flat, map) ? flat[map] : undefined;
    if (!isEntry(inner)) return flat;
    const parts = Object.entries(inner).map(([key, value]) => [`${map}.${key}`, value]);
    return { ...omitKeys(flat, map), ...Object.fromEntries(parts) };
  }, entry);
}

/** The opposite: a map for the keys that have a dot. */
export function nestKeys(entry: Entry): Record<string, unknown> {
  const result: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(entry)) setDotted(result, key, value);
  return result;
}

/** Sets a key that may have a dot. The keys come from tables of ours, or are own keys of a map that was taken apart. */
export function setDotted(entry: Record<string, unknown>, key: string, value: unknown): void {
  const dot = key.indexOf('.');
  const map = key.slice(0, Math.max(dot, 0));
  const inner = dot > 0 && Object.hasOwn(entry, map) ? entry[map] : undefined;
  const [name, item] =
    dot > 0 ? [map, { ...(isEntry(inner) ? inner : {}), [key.slice(dot + 1)]: value }] : [key, value];
  Object.defineProperty(entry, name, { value: item, enumerable: true, configurable: true, writable: true });
}
