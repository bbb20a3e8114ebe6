/** Lets a file of higher precedence override parts of a server from another file. */
import { isRecord } from '../../json/is-record.js';
import { ADJUSTABLE_KEYS, idleTimeOf, type ServerConfig } from '../schema/schema.js';

type Entry = Readonly<Record<string, unknown>>;
type AdjustableKey = (typeof ADJUSTABLE_KEYS)[number];

/** An entry with nothing but overridable keys: no command and no URL. */
export function isAdjustment(entry: unknown): entry is Entry {
  return isRecord(entry) && Object.keys(entry).every((key) => ADJUSTABLE_KEYS.some((one) => one === key));
}

/** The entry with the overrides. */
export const adjust = (before: Entry, adjustment: Entry): Entry => ({ ...before, ...adjustment });

/**
 * The entry with those overrides that restrict it, for a project that overrides a server of the user. `config` is the
 * entry with all defaults. What is not valid stays, so that it is reported.
 */
export function narrow(before: Entry, adjustment: Entry, config: ServerConfig): Entry {
  const narrowed = ADJUSTABLE_KEYS.filter((key) => Object.hasOwn(adjustment, key)).map(
    (key) => [key, NARROWED[key](adjustment[key], config)] as const,
  );
  return { ...before, ...Object.fromEntries(narrowed.filter(([key, value]) => value !== config[key])) };
}

/** What is in effect of the value that a project wants; the value of the server itself if it would extend it. */
type Narrow = (wanted: unknown, config: ServerConfig) => unknown;

/** Fewer, shorter or sooner. */
const atMost =
  (key: 'connectTimeoutMs' | 'listTimeoutMs' | 'callTimeoutMs' | 'maxCallMs' | 'maxInFlight'): Narrow =>
  (wanted, config) =>
    typeof wanted === 'number' ? Math.min(wanted, config[key]) : wanted;

/** Neither value restricts more than another: it is for the user to decide. */
const unchanged =
  (key: AdjustableKey): Narrow =>
  (_, config) =>
    config[key];

const NARROWED: Readonly<Record<AdjustableKey, Narrow>> = {
  enabled: (wanted, { enabled }) => (wanted === true ? enabled : wanted),
  // Read by models: it would be a text of the project in the name of the user.
  description: unchanged('description'),
  includeTools: (wanted, { includeTools }) =>
    Array.isArray(wanted) && includeTools !== undefined
      ? includeTools.filter((tool) => wanted.includes(tool))
      : wanted,
  excludeTools: (wanted, { excludeTools }) => joined(excludeTools, wanted),
  requires: (wanted, { requires }) => joined(requires, wanted),
  // Absent means none: a project cannot let the user's server send requests.
  mayAsk: (wanted, { mayAsk = [] }) =>
    Array.isArray(wanted) ? mayAsk.filter((kind) => wanted.includes(kind)) : wanted,
  start: (wanted, { start }) => (wanted === 'eager' ? start : wanted),
  connectTimeoutMs: atMost('connectTimeoutMs'),
  listTimeoutMs: atMost('listTimeoutMs'),
  callTimeoutMs: atMost('callTimeoutMs'),
  maxCallMs: atMost('maxCallMs'),
  maxInFlight: atMost('maxInFlight'),
  share: (wanted, { share }) => (isolationOf(wanted) < isolationOf(share) ? share : wanted),
  idleMs: (wanted, config) => (isSooner(wanted, config) ? wanted : config.idleMs),
  listTtlMs: unchanged('listTtlMs'),
  pingMs: unchanged('pingMs'),
  reconnect: unchanged('reconnect'),
};

/** How much callers are kept apart; more for what is not valid, which is reported elsewhere. */
function isolationOf(share: unknown): number {
  const index = SHARES.indexOf(String(share));
  return index === -1 ? SHARES.length : index;
}

const SHARES: readonly string[] = ['shared', 'agent', 'session'];

/** 0 is never. What is not a number is reported elsewhere. */
function isSooner(wanted: unknown, config: ServerConfig): boolean {
  if (typeof wanted !== 'number') return true;
  const usual = idleTimeOf(config);
  return wanted !== 0 && (usual === 0 || wanted < usual);
}

/** Both, as one list, or as a map from globs to lists if one of them is a map. An invalid one stays as it is. */
function joined(old: ServerConfig['requires'], more: unknown): unknown {
  if (Array.isArray(old) && (old.length === 0 || Array.isArray(more))) return joinedLists(old, more);
  const [first, second] = [toMap(old), toMap(more)];
  if (first === undefined || second === undefined) return more;
  const keys = new Set([...Object.keys(first), ...Object.keys(second)]);
  return Object.fromEntries(
    [...keys].map((key) => [key, joinedLists(ownOf(first, key), ownOf(second, key))]),
  );
}

const joinedLists = (old: unknown, more: unknown): unknown =>
  Array.isArray(old) && Array.isArray(more) ? [...new Set([...old, ...more])] : more;

/** A name such as `constructor` must not find what every object has. */
const ownOf = (map: Entry, key: string): unknown => (Object.hasOwn(map, key) ? map[key] : []);

const toMap = (value: unknown): Entry | undefined =>
  Array.isArray(value) ? { '*': value } : isRecord(value) ? value : undefined;
