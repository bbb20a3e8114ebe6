/** Removes a server and its comments from a client's file; everything else stays byte for byte. */
import { isDeepStrictEqual } from 'node:util';
import { setKey } from 'turnbuckle/host';
import type { Client } from '../client.js';
import { editedValue, indexOfNamed } from '../formats/file-edit.js';
import { parseText, withoutByteOrderMark } from '../formats/parse-text.js';
import { type Entry, isEntry, ownValue, ownValueAt } from '../formats/plain-value.js';
import { formatOf } from '../read-client-config.js';

export interface RemovedEntry {
  /** The entry that is in the file; absent when there is none. */
  readonly entry?: Entry;
  /** The file's new text; absent when it cannot be taken out without harm, and where the format is not JSON. */
  readonly text?: string;
}

/** Never throws. Undefined: the file cannot be parsed. */
export function removeEntry(
  { client, file }: { readonly client: Client; readonly file: string },
  text: string,
  name: string,
): RemovedEntry | undefined {
  const format = formatOf(client, file);
  const body = withoutByteOrderMark(text);
  const parsed = parseText(body, format);
  if ('problem' in parsed) return undefined;
  const { container, list = false } = client.dialectOf?.(parsed.value) ?? client.dialect;
  const servers = ownValueAt(parsed.value, container);
  const index = indexOfNamed(servers, name);
  const entry = Array.isArray(servers) ? servers[index] : ownValue(servers, name);
  if (!isEntry(entry)) return {};
  if (format !== 'json') return { entry };
  const setting = Array.isArray(servers)
    ? { path: container, value: servers.toSpliced(index, 1) }
    : { path: [...container, name], value: undefined };
  const wanted = editedValue(parsed.value, { ...EMPTY_EDIT, container, list, settings: [setting] });
  try {
    const result = setKey(body, [...container, Array.isArray(servers) ? index : name], undefined);
    const again = parseText(result, format);
    if ('problem' in again || !isDeepStrictEqual(again.value, wanted)) return { entry };
    return { entry, text: text === body ? result : `\uFEFF${result}` };
  } catch {
    return { entry };
  }
}

const EMPTY_EDIT = { named: false, servers: [] } as const;
