/**
 * The servers of a configuration text, in each form in which the file may have them: `servers` as a map or
 * as a list of entries with `name` or `id`, or `mcpServers` as a map. Pure: text in, text out.
 */
import { getNodeValue, type Node } from 'jsonc-parser';
import { isRecord } from '../../is-record.js';
import {
  behindBom,
  invalidAt,
  type KeyPath,
  keyOf,
  nodeAt,
  parseDocument,
  valueOfMember,
} from './jsonc-document.js';
import { setKey } from './set-key.js';

export { setKey } from './set-key.js';

export interface WrittenServer {
  readonly name: string;
  readonly path: KeyPath;
  /** The entry as it is written, the name in it included. */
  readonly entry: unknown;
}

/** The servers in the order of the file; none for a text without content. CONFIG_INVALID as for an edit. */
export function writtenServers(text: string): WrittenServer[] {
  return placesOf(text).flatMap(({ servers }) => servers);
}

/** The text with that server: a new one comes last, of an existing one only what differs is written. */
export function setServer(text: string, name: string, config: Readonly<Record<string, unknown>>): string {
  const places = placesOf(text);
  const place = places.find(({ servers }) => servers.some((server) => server.name === name)) ?? places[0];
  if (place === undefined) return setKey(text, ['servers', name], config);
  const known = place.servers.find((server) => server.name === name);
  if (!place.isList) return setKey(text, [place.key, name], config);
  return setKey(text, known?.path ?? [place.key, -1], listEntry(name, config, known?.entry));
}

/** The text without that server; unchanged when there is none of that name. */
export function removeServer(text: string, name: string): string {
  let result = text;
  for (;;) {
    const known = writtenServers(result).find((server) => server.name === name);
    if (known === undefined) return result;
    result = setKey(result, known.path, undefined);
  }
}

function listEntry(name: string, config: Readonly<Record<string, unknown>>, old: unknown): unknown {
  // A hosted-proxy server has an `id` of its own, so its name can only be `name`.
  const byId = isRecord(old) && typeof old.name !== 'string' && config.id === undefined;
  const { name: _, ...rest } = config;
  return byId ? { id: name, ...rest } : { name, ...rest };
}

interface Place {
  readonly key: string;
  readonly isList: boolean;
  readonly servers: readonly WrittenServer[];
}

function placesOf(text: string): Place[] {
  const places: Place[] = [];
  behindBom(text, (body) => {
    const root = parseDocument(body);
    for (const key of ['servers', 'mcpServers']) {
      const node = root === undefined ? undefined : nodeAt(root, [key]);
      // `null` says as much as nothing: the first edit replaces it.
      if (node !== undefined && node.type !== 'null') places.push(placeOf(body, key, node));
    }
    return body;
  });
  return places;
}

function placeOf(text: string, key: string, node: Node): Place {
  if (node.type !== 'object' && node.type !== 'array')
    throw invalidAt(text, node.offset, `"${key}": expected a map or a list of servers, found ${node.type}`);
  const servers = (node.children ?? []).flatMap((member, index): WrittenServer[] => {
    const value = valueOfMember(member);
    const entry: unknown = value === undefined ? undefined : getNodeValue(value);
    const name = keyOf(member) ?? nameIn(entry);
    return name === undefined ? [] : [{ name, path: [key, keyOf(member) ?? index], entry }];
  });
  return { key, isList: node.type === 'array', servers };
}

function nameIn(entry: unknown): string | undefined {
  if (!isRecord(entry)) return undefined;
  const name = typeof entry.name === 'string' ? entry.name : entry.id;
  return typeof name === 'string' ? name : undefined;
}
