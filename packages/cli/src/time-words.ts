/** Times and durations as people write and read them. */
import { TurnbuckleError } from 'turnbuckle';

const UNITS: Readonly<Record<string, number>> = {
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};

/** `30m`, `2h`, `7d`, or a date: the moment it means, in milliseconds since 1970. */
export function readSince(text: string, now: number): number {
  const [, count, unit = ''] = /^(\d{1,6})\s*([smhdw])$/.exec(text.trim()) ?? [];
  const ago = count === undefined ? undefined : Number(count) * (UNITS[unit] ?? 0);
  const moment = ago === undefined ? Date.parse(text) : now - ago;
  if (!Number.isNaN(moment)) return moment;
  throw new TurnbuckleError('ARGUMENTS_INVALID', `--since "${text}" is not a time.`, {
    hint: 'For example --since 30m, --since 2h, --since 7d or --since 2026-01-31',
  });
}

/** Three digits are enough: `4.2 ms`, `950 ms`, `1.5 s`, `3 min`. */
export function showDuration(ms: number): string {
  if (ms < 10) return `${round(ms, 1)} ms`;
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  return ms < 120_000 ? `${round(ms / 1_000, 1)} s` : `${Math.round(ms / 60_000)} min`;
}

/** `7 days`, `90 minutes`. */
export function showSpan(ms: number): string {
  const [count, word] =
    ms >= 2 * 86_400_000
      ? [ms / 86_400_000, 'day']
      : ms >= 2 * 3_600_000
        ? [ms / 3_600_000, 'hour']
        : [ms / 60_000, 'minute'];
  const whole = Math.max(Math.round(count), 1);
  return `${whole} ${word}${whole === 1 ? '' : 's'}`;
}

const round = (value: number, digits: number): number => Number(value.toFixed(digits));
