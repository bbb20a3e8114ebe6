/**
 * The servers of a configuration text in all supported forms: `servers` as a map or as a list of entries with `name`
 * or `id`, or `mcpServers` as a map. Pure: text in, text out.
 */
import { getNodeValue, type Node } from 'jsonc-parser';
import { isRecord } from '../../json/is-record.js';
import { namedEntry } from '../layers/spellings.js';
import {
  invalidAt,
  type KeyPath,
  keyOf,
  nodeAt,
  parseJsonc,
  preserveBom,
  valueOfMember,
} from './jsonc-document.js';
import { setKey } from './set-key.js';

export { setKey } from './set-key.js';

export interface EditableServer {
  readonly name: string;
  readonly path: KeyPath;
  /** The entry exactly as written, including its name. */
  readonly entry: unknown;
}

/** The servers in file order; none for an empty text. Throws CONFIG_INVALID like an edit. */
export function listServers(text: string): EditableServer[] {
  return findContainers(text).flatMap(({ servers }) => servers);
}

/** The text with that server: a new one is added at the end, an existing one is changed only where it differs. */
export function setServer(text: string, name: string, config: Readonly<Record<string, unknown>>): string {
  const places = findContainers(text);
  const place = places.find(({ servers }) => servers.some((server) => server.name === name)) ?? places[0];
  if (place === undefined) return setKey(text, ['servers', name], config);
  const known = place.servers.find((server) => server.name === name);
  if (!place.isList) return setKey(text, [place.key, name], config);
  return setKey(text, known?.path ?? [place.key, -1], listEntry(name, config, known?.entry));
}

/** The text without that server; unchanged if it does not exist. */
export function removeServer(text: string, name: string): string {
  let result = text;
  for (;;) {
    const known = listServers(result).find((server) => server.name === name);
    if (known === undefined) return result;
    result = setKey(result, known.path, undefined);
  }
}

function listEntry(name: string, config: Readonly<Record<string, unknown>>, old: unknown): unknown {
  const { name: _, ...rest } = config;
  // A hosted-proxy server has its own `id`, so its name can only be `name`.
  if (!isRecord(old) || config.id !== undefined) return { name, ...rest };
  if (typeof old.name !== 'string') return { id: name, ...rest };
  return namedEntry(old)?.entry.id === old.id ? { name, ...rest } : { id: old.id, name, ...rest };
}

interface ServerContainer {
  readonly key: string;
  readonly isList: boolean;
  readonly servers: readonly EditableServer[];
}

function findContainers(text: string): ServerContainer[] {
  const places: ServerContainer[] = [];
  preserveBom(text, (body) => {
    const root = parseJsonc(body);
    for (const key of ['servers', 'mcpServers']) {
      const node = root === undefined ? undefined : nodeAt(root, [key]);
      // `null` counts as empty: the first edit replaces it.
      if (node !== undefined && node.type !== 'null') places.push(readContainer(body, key, node));
    }
    return body;
  });
  return places;
}

function readContainer(text: string, key: string, node: Node): ServerContainer {
  if (node.type !== 'object' && node.type !== 'array')
    throw invalidAt(
      text,
      node.offset,
      `expected "${key}" to be a map or a list of servers, found ${node.type}`,
    );
  const servers = (node.children ?? []).flatMap((member, index): EditableServer[] => {
    const value = valueOfMember(member);
    const entry: unknown = value === undefined ? undefined : getNodeValue(value);
    const name = keyOf(member) ?? namedEntry(entry)?.name;
    return name === undefined ? [] : [{ name, path: [key, keyOf(member) ?? index], entry }];
  });
  return { key, isList: node.type === 'array', servers };
}
