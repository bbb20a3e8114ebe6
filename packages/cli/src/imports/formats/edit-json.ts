/** Edits JSON with comments in its text, so that everything the edit does not name stays byte for byte. */
import { type FileEdit, indexOfNamed, mergedEntry } from './file-edit.js';
import { isEntry, ownAt } from './plain-value.js';
import { type JsonPath, setInJson } from './set-in-json.js';

/** `value` is what `text` parses to. Throws when the library finds no place for the edit. */
export function editJson(text: string, value: unknown, edit: FileEdit): string {
  let result = text.trim() === '' ? '{}\n' : text;
  const set = (path: JsonPath, to: unknown): void => {
    result = setInJson(result, path, to);
  };
  let added = 0;
  const servers = ownAt(value, edit.container);
  if (edit.list && servers === undefined) set([...edit.container], []);
  for (const server of edit.servers) {
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
    if (setting.value !== undefined || ownAt(value, setting.path) !== undefined)
      set([...setting.path], setting.value);
  return result;
}

function existingAt(servers: unknown, key: string | number): unknown {
  if (Array.isArray(servers)) return typeof key === 'number' ? servers[key] : undefined;
  return isEntry(servers) && typeof key === 'string' && Object.hasOwn(servers, key)
    ? servers[key]
    : undefined;
}
