import { isRecord } from './protocol.js';

/** What a value takes in memory beside its texts, in bytes; measured, for the dearest. */
const VALUE = 32;
const MEMBER = 64;

/** About how many bytes a value takes in memory; undefined for more than `max`, beyond which it does not look. */
export function jsonSize(value: unknown, max: number): number | undefined {
  let left = max;
  const waiting: unknown[] = [value];
  while (waiting.length > 0 && left >= 0) {
    const next = waiting.pop();
    left -= VALUE;
    if (typeof next === 'string') left -= next.length;
    else if (Array.isArray(next)) {
      if (left >= next.length * VALUE) for (const item of next) waiting.push(item);
      else return undefined;
    } else if (isRecord(next)) {
      for (const key in next) {
        left -= key.length + MEMBER;
        if (left < 0) return undefined;
        waiting.push(next[key]);
      }
    }
  }
  return left < 0 ? undefined : max - left;
}
