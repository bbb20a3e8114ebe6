/** How a stronger file changes some of a weaker one's server without writing all of it again. */
import { isRecord } from '../is-record.js';
import { ADJUSTABLE } from './schema.js';

type Entry = Readonly<Record<string, unknown>>;

/** An entry that neither says what to run or contact, nor anything but what can be adjusted. */
export function isAdjustment(entry: unknown): entry is Entry {
  return isRecord(entry) && Object.keys(entry).every((key) => ADJUSTABLE.some((one) => one === key));
}

/**
 * The entry with the adjustment in it. With `narrowing` (a project adjusts a server of its user's), what the
 * server may offer and who may use it can become less, never more.
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
  // What is not there is nothing: a project cannot let its user's server ask.
  if (Array.isArray(adjustment.mayAsk)) {
    const allowed = Array.isArray(before.mayAsk) ? before.mayAsk : [];
    adjusted.mayAsk = adjustment.mayAsk.filter((kind) => allowed.includes(kind));
  }
  return adjusted;
}
