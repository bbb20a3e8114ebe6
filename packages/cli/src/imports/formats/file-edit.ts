/** What a writer wants of a file, apart from its format; and the plain model that every edit is held against. */
import { type Entry, isEntry } from './plain-value.js';

export interface ServerEdit {
  readonly name: string;
  readonly entry: Entry;
  /**
   * Keys that may be removed from an entry that is already there; its other keys stay. `oauth.clientId` is the key
   * `clientId` of the map `oauth`.
   */
  readonly owned: ReadonlySet<string>;
}

export interface FileEdit {
  readonly container: readonly string[];
  /** True: the container is a list whose entries have a `name`. */
  readonly list: boolean;
  /** True: entries carry their name inside. */
  readonly named: boolean;
  readonly servers: readonly ServerEdit[];
  /** Values elsewhere in the file; undefined removes. */
  readonly settings: readonly { readonly path: readonly string[]; readonly value: unknown }[];
}

/** The entry that shall stand in the file: the written keys, and what its user added. */
export function mergedEntry(existing: unknown, { name, entry, owned }: ServerEdit, edit: FileEdit): Entry {
  const kept = isEntry(existing)
    ? Object.entries(existing).flatMap(([key, value]) => keptPart(key, value, owned))
    : [];
  const written = Object.entries(entry).map(([key, value]): [string, unknown] => {
    const [, other] = kept.find(([known]) => known === key) ?? [];
    return [key, isEntry(other) && isEntry(value) ? { ...other, ...value } : value];
  });
  return Object.fromEntries([...(edit.named ? [['name', name] as const] : []), ...kept, ...written]);
}

/** Of a map with keys of ours, the user's own keys are kept. */
function keptPart(key: string, value: unknown, owned: ReadonlySet<string>): [string, unknown][] {
  if (owned.has(key) && !isEntry(value)) return [];
  const inner = [...owned].filter((each) => each.startsWith(`${key}.`));
  if (inner.length === 0) return owned.has(key) ? [] : [[key, value]];
  if (!isEntry(value)) return [];
  const rest = Object.entries(value).filter(([name]) => !owned.has(`${key}.${name}`));
  return rest.length === 0 ? [] : [[key, Object.fromEntries(rest)]];
}

/** The position of a named entry in a list, or -1. */
export function indexOfNamed(list: unknown, name: string): number {
  return Array.isArray(list) ? list.findIndex((item) => isEntry(item) && item.name === name) : -1;
}

/** The same document with the edit done, as plain values; nothing is changed in place. */
export function editedValue(root: unknown, edit: FileEdit): unknown {
  let result = root;
  for (const server of edit.servers) {
    result = updatedAt(result, edit.container, (servers) => {
      if (edit.list) {
        const list: unknown[] = Array.isArray(servers) ? [...servers] : [];
        const index = indexOfNamed(list, server.name);
        list.splice(index === -1 ? list.length : index, 1, mergedEntry(list[index], server, edit));
        return list;
      }
      const existing =
        isEntry(servers) && Object.hasOwn(servers, server.name) ? servers[server.name] : undefined;
      return withKey(servers, server.name, mergedEntry(existing, server, edit));
    });
  }
  for (const { path, value } of edit.settings) result = updatedAt(result, path, () => value);
  return result;
}

function updatedAt(root: unknown, path: readonly string[], change: (value: unknown) => unknown): unknown {
  const [key, ...rest] = path;
  if (key === undefined) return change(root);
  const inner = isEntry(root) && Object.hasOwn(root, key) ? root[key] : undefined;
  return withKey(root, key, updatedAt(inner, rest, change));
}

function withKey(root: unknown, key: string, value: unknown): Entry {
  const entries = isEntry(root) ? Object.entries(root) : [];
  const others = entries.filter(([name]) => name !== key);
  if (value === undefined) return Object.fromEntries(others);
  const known = entries.some(([name]) => name === key);
  return Object.fromEntries(
    known ? entries.map(([name, old]) => [name, name === key ? value : old]) : [...others, [key, value]],
  );
}
