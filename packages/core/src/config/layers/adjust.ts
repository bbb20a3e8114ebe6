/** Lets a file of higher precedence override parts of a server from another file. */
import { isRecord } from '../../json/is-record.js';
import { ADJUSTABLE_KEYS } from '../schema/schema.js';

type Entry = Readonly<Record<string, unknown>>;

/** An entry with nothing but overridable keys: no command and no URL. */
export function isAdjustment(entry: unknown): entry is Entry {
  return isRecord(entry) && Object.keys(entry).every((key) => ADJUSTABLE_KEYS.some((one) => one === key));
}

/**
 * The entry with the overrides. With `narrowing` (a project overrides a user's server), tools and visibility can only
 * be restricted.
 */
export function adjust(before: Entry, adjustment: Entry, { narrowing }: { narrowing: boolean }): Entry {
  const adjusted: Record<string, unknown> = { ...before, ...adjustment };
  if (!narrowing) return adjusted;
  for (const key of ['excludeTools', 'requires']) {
    const [old, more] = [before[key], adjustment[key]];
    if (Array.isArray(old) && Array.isArray(more)) adjusted[key] = [...new Set([...old, ...more])];
  }
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
