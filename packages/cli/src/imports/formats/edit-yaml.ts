/** Edits YAML through its document tree, which keeps comments and order. */
import { parseDocument } from 'yaml';
import { type FileEdit, indexOfNamed, mergedEntry } from './file-edit.js';
import { isEntry, ownValueAt } from './plain-value.js';

/** `value` is what `text` parses to. Throws when the document's shape does not allow the edit. */
export function editYaml(text: string, value: unknown, edit: FileEdit): string {
  const document = parseDocument(text, { merge: true, logLevel: 'silent' });
  const servers = ownValueAt(value, edit.container) ?? undefined;
  if (servers === undefined) document.setIn(edit.container, document.createNode(edit.list ? [] : {}));
  for (const server of edit.servers) {
    const index = edit.list ? indexOfNamed(servers, server.name) : -1;
    const existing = edit.list
      ? Array.isArray(servers) && index !== -1
        ? servers[index]
        : undefined
      : isEntry(servers) && Object.hasOwn(servers, server.name)
        ? servers[server.name]
        : undefined;
    const entry = mergedEntry(existing, server, edit);
    if (edit.list && index === -1) {
      document.addIn(edit.container, document.createNode(entry));
      continue;
    }
    const path = [...edit.container, edit.list ? index : server.name];
    if (!isEntry(existing)) {
      document.setIn(path, document.createNode(entry));
      continue;
    }
    for (const key of Object.keys(existing))
      if (!Object.hasOwn(entry, key)) document.deleteIn([...path, key]);
    for (const [key, item] of Object.entries(entry))
      if (JSON.stringify(existing[key]) !== JSON.stringify(item))
        document.setIn([...path, key], document.createNode(item));
  }
  for (const setting of edit.settings) document.setIn(setting.path, document.createNode(setting.value));
  return document.toString({ lineWidth: 0 });
}
