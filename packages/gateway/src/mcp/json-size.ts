import { isRecord } from './protocol.js';

/** About how many characters the JSON of a value has; undefined for more than `max`, beyond which it does not look. */
export function jsonSize(value: unknown, max: number): number | undefined {
  let left = max;
  const waiting: unknown[] = [value];
  while (waiting.length > 0 && left >= 0) {
    const next = waiting.pop();
    left -= 2;
    if (typeof next === 'string') left -= next.length;
    else if (Array.isArray(next)) {
      left -= next.length;
      if (left >= 0) for (const item of next) waiting.push(item);
    } else if (isRecord(next)) {
      for (const key in next) {
        left -= key.length + 4;
        if (left < 0) return undefined;
        waiting.push(next[key]);
      }
    } else left -= 6;
  }
  return left < 0 ? undefined : max - left;
}
