/** Lets a file of higher precedence override parts of a server from another file. */
import { isRecord } from '../../json/is-record.js';
import { ADJUSTABLE_KEYS, type ServerDefaults } from '../schema/schema.js';

type Entry = Readonly<Record<string, unknown>>;

/** An entry with nothing but overridable keys: no command and no URL. */
export function isAdjustment(entry: unknown): entry is Entry {
  return isRecord(entry) && Object.keys(entry).every((key) => ADJUSTABLE_KEYS.some((one) => one === key));
}

export interface AdjustOptions {
  readonly narrowing: boolean;
  readonly defaults?: ServerDefaults | undefined;
}

/**
 * The entry with the overrides. With `narrowing` (a project overrides a user's server), tools, visibility and
 * shared connections can only be restricted.
 */
export function adjust(before: Entry, adjustment: Entry, { narrowing, defaults }: AdjustOptions): Entry {
  const adjusted: Record<string, unknown> = { ...before, ...adjustment };
  if (!narrowing) return adjusted;
  for (const key of ['excludeTools', 'requires'])
    if (key in before && key in adjustment) adjusted[key] = joined(before[key], adjustment[key]);
  const share = before.share ?? defaults?.share ?? (before.credentials === undefined ? 'shared' : 'agent');
  if (isolationOf(adjustment.share ?? share) < isolationOf(share)) adjusted.share = share;
  const { includeTools: old } = before;
  const { includeTools: fewer } = adjustment;
  if (Array.isArray(old) && Array.isArray(fewer))
    adjusted.includeTools = old.filter((one) => fewer.includes(one));
  // A missing value means none: a project cannot let the user's server send requests.
  if (Array.isArray(adjustment.mayAsk)) {
    const allowed = Array.isArray(before.mayAsk) ? before.mayAsk : [];
    adjusted.mayAsk = adjustment.mayAsk.filter((kind) => allowed.includes(kind));
  }
  return adjusted;
}

/** How much callers are kept apart; more for what is not valid, which is reported elsewhere. */
function isolationOf(share: unknown): number {
  const index = SHARES.indexOf(String(share));
  return index === -1 ? SHARES.length : index;
}

const SHARES: readonly string[] = ['shared', 'agent', 'session'];

/** Both, as one list, or as a map from globs to lists if one of them is a map. An invalid one stays as it is. */
function joined(old: unknown, more: unknown): unknown {
  if (Array.isArray(old) && Array.isArray(more)) return [...new Set([...old, ...more])];
  const [first, second] = [toMap(old), toMap(more)];
  if (first === undefined || second === undefined) return more;
  const keys = new Set([...Object.keys(first), ...Object.keys(second)]);
  return Object.fromEntries(
    [...keys].map((key) => [
      key,
      Object.hasOwn(first, key) ? joined(first[key], second[key] ?? []) : second[key],
    ]),
  );
}

const toMap = (value: unknown): Entry | undefined =>
  Array.isArray(value) ? { '*': value } : isRecord(value) ? value : undefined;
