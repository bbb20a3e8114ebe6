import { isRecord } from 'turnbuckle/host';

/** Memory of a value in addition to its text, in bytes; measured for the most expensive kind. */
const VALUE_BYTES = 32;
const MEMBER_BYTES = 64;

/** Estimates the memory of a value in bytes; undefined above `max`, where it stops counting. */
export function estimateJsonBytes(value: unknown, max: number): number | undefined {
  let left = max;
  const waiting: unknown[] = [value];
  while (waiting.length > 0 && left >= 0) {
    const next = waiting.pop();
    left -= VALUE_BYTES;
    if (typeof next === 'string') left -= next.length;
    else if (Array.isArray(next)) {
      if (left >= next.length * VALUE_BYTES) for (const item of next) waiting.push(item);
      else return undefined;
    } else if (isRecord(next)) {
      for (const key in next) {
        left -= key.length + MEMBER_BYTES;
        if (left < 0) return undefined;
        waiting.push(next[key]);
      }
    }
  }
  return left < 0 ? undefined : max - left;
}
