/** Edits JSON with comments in its text, so that everything the edit does not name stays byte for byte. */
import { findNodeAtLocation, parseTree } from 'jsonc-parser';
import { setKey } from 'turnbuckle/host';
import { type FileEdit, indexOfNamed, mergedEntry } from './file-edit.js';
import { isEntry, ownValueAt } from './plain-value.js';

/** `value` is what `text` parses to. Throws when the library finds no place for the edit. */
export function editJson(text: string, value: unknown, edit: FileEdit): string {
  let result = text.trim() === '' ? '{}\n' : text;
  const set = (path: readonly (string | number)[], to: unknown): void => {
    result = setKey(result, path, to);
  };
  let added = 0;
  const servers = ownValueAt(value, edit.container);
  if (edit.list && servers === undefined) set([...edit.container], []);
  for (const server of edit.servers) {
    if (hasTwice(text, [...edit.container, server.name])) return text;
    const known = edit.list ? indexOfNamed(servers, server.name) : server.name;
    const fresh = edit.list && known === -1;
    const position = fresh ? (Array.isArray(servers) ? servers.length : 0) + added : known;
    if (fresh) added += 1;
    const path = [...edit.container, position];
    const existing = fresh ? undefined : existingAt(servers, known);
    const entry = mergedEntry(existing, server, edit);
    if (!isEntry(existing)) {
      set(path, entry);
      continue;
    }
    // Key by key, so that comments between the keys stay.
    for (const key of Object.keys(existing)) if (!Object.hasOwn(entry, key)) set([...path, key], undefined);
    for (const [key, item] of Object.entries(entry))
      if (JSON.stringify(existing[key]) !== JSON.stringify(item)) set([...path, key], item);
  }
  for (const setting of edit.settings)
    if (setting.value !== undefined || ownValueAt(value, setting.path) !== undefined)
      set([...setting.path], setting.value);
  return result;
}

function existingAt(servers: unknown, key: string | number): unknown {
  if (Array.isArray(servers)) return typeof key === 'number' ? servers[key] : undefined;
  return isEntry(servers) && typeof key === 'string' && Object.hasOwn(servers, key)
    ? servers[key]
    : undefined;
}

/** Programs disagree about which of two equal keys counts, so neither is changed: the check of the result finds it. */
function hasTwice(text: string, path: readonly string[]): boolean {
  const tree = parseTree(text, [], { allowTrailingComma: true });
  const container = tree && findNodeAtLocation(tree, path.slice(0, -1));
  const keys = container?.type === 'object' ? (container.children ?? []) : [];
  return keys.filter(({ children }) => children?.[0]?.value === path.at(-1)).length > 1;
}
