/** The spellings that an entry of a server may have. Everything behind the parser sees only one of them. */
import { isRecord } from '../../json/is-record.js';
import { TRANSPORT_ALIASES, TRANSPORT_TYPES, type TransportType } from '../schema/schema.js';

type Entry = Readonly<Record<string, unknown>>;

/** The transport with this name or alias. */
export function toTransportType(name: unknown): TransportType | undefined {
  if (typeof name !== 'string') return undefined;
  const unified = Object.hasOwn(TRANSPORT_ALIASES, name) ? TRANSPORT_ALIASES[name] : name;
  return TRANSPORT_TYPES.find((one) => one === unified);
}

/** The transport that follows from the other keys of an entry without `type`. */
export function impliedTransport({ command, server, baseUrl, url }: Entry): TransportType | undefined {
  if (command !== undefined) return 'stdio';
  if (server !== undefined) return 'in-process';
  if (baseUrl !== undefined) return 'proxy';
  if (typeof url === 'string') return /^wss?:/i.test(url) ? 'websocket' : 'http';
  return url === undefined ? undefined : 'http';
}

/**
 * The entry with our keys: `type` for `transport`, and `baseUrl` for the `url` of a hosted proxy. Two spellings that
 * contradict each other stay, so that the parser can name both.
 */
export function unifyKeys(entry: Entry): Entry {
  const { transport, ...others } = entry;
  const named = toTransportType(transport);
  const isSame = others.type === undefined || toTransportType(others.type) === named;
  const typed =
    named !== undefined && isSame ? { ...others, type: named } : transport === undefined ? others : entry;
  const { url, ...rest } = typed;
  const isProxyUrl =
    url !== undefined && rest.baseUrl === undefined && toTransportType(rest.type) === 'proxy';
  return isProxyUrl ? { ...rest, baseUrl: url } : typed;
}

/** The key that the entry has for one of ours. */
export const writtenKey = (entry: Entry, key: PropertyKey): PropertyKey =>
  key === 'baseUrl' && entry.baseUrl === undefined && entry.url !== undefined ? 'url' : key;

/**
 * An entry of a list, by its `name`, or else its `id`; undefined if it has neither. An `id` beside a name has no
 * meaning, except for a hosted proxy, which has its own.
 */
export function namedEntry(value: unknown): { readonly name: string; readonly entry: Entry } | undefined {
  if (!isRecord(value)) return undefined;
  const { name, ...rest } = value;
  const { id, ...withoutId } = rest;
  if (typeof name !== 'string') return typeof id === 'string' ? { name: id, entry: withoutId } : undefined;
  const { type } = unifyKeys(rest);
  const isProxy = (type === undefined ? impliedTransport(rest) : toTransportType(type)) === 'proxy';
  return { name, entry: isProxy || typeof id !== 'string' ? rest : withoutId };
}
