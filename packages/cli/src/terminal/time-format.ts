/** Times and durations as people write and read them. Without a zone, a time is one of this place. */
import { TurnbuckleError } from 'turnbuckle';

const UNIT_MS: Readonly<Record<string, number>> = {
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};

const DATE_TIME = /^(\d{4}-\d\d-)(\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d+)?)?)(Z|[+-]\d\d:?\d\d)?)?$/i;

/** `30m`, `2h`, `7d`, or a date: the moment it means, in milliseconds since 1970. */
export function parseSince(text: string, now: number): number {
  const ago = parseDuration(text);
  const moment = ago === undefined ? parseTimestamp(text) : now - ago;
  if (moment !== undefined && moment <= now) return moment;
  const fault = moment === undefined ? 'is not a time' : 'is in the future';
  throw new TurnbuckleError('ARGUMENTS_INVALID', `--since "${text}" ${fault}.`, {
    hint: 'For example --since 30m, --since 2h, --since 7d or --since 2026-01-31',
  });
}

/** `30m`, `12h`, `7d`: how long that is, in milliseconds. */
export function parseDuration(text: string): number | undefined {
  const [, count, unit = ''] = /^(\d{1,6})\s*([smhdw])$/.exec(text.trim()) ?? [];
  return count === undefined ? undefined : Number(count) * (UNIT_MS[unit] ?? 0);
}

/** `2026-01-31`, with or without a time and a zone. Dates that no calendar has are none. */
export function parseTimestamp(text: string): number | undefined {
  const [, month = '', day, time = '00:00', zone = ''] = DATE_TIME.exec(text.trim()) ?? [];
  if (day === undefined) return undefined;
  // Engines take the 30th of February for the 2nd of March.
  if (new Date(`${month}${day}T00:00Z`).getUTCDate() !== Number(day)) return undefined;
  const moment = Date.parse(`${month}${day}T${time}${zone.toUpperCase()}`);
  return Number.isNaN(moment) ? undefined : moment;
}

/** `2026-01-31 12:00:00`, in the time of this place. */
export function formatTimestamp(time: number): string {
  const date = new Date(time);
  if (Number.isNaN(date.getTime())) return '-';
  const day = [date.getFullYear(), date.getMonth() + 1, date.getDate()].map(twoDigits).join('-');
  return `${day} ${[date.getHours(), date.getMinutes(), date.getSeconds()].map(twoDigits).join(':')}`;
}

/** Short form: the time for today, the date and time for earlier days. */
export function formatTimestampShort(time: number, now: number): string {
  const moment = formatTimestamp(time);
  const today = formatTimestamp(now);
  if (moment.slice(0, 10) === today.slice(0, 10)) return moment.slice(11);
  return moment.slice(0, 4) === today.slice(0, 4) ? moment.slice(5, 16) : moment.slice(0, 10);
}

const twoDigits = (number: number): string => String(number).padStart(2, '0');

/** Three digits are enough: `4.2 ms`, `950 ms`, `1.5 s`, `3 min`. */
export function formatDuration(ms: number): string {
  if (ms < 10) return `${round(ms, 1)} ms`;
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  return ms < 120_000 ? `${round(ms / 1_000, 1)} s` : `${Math.round(ms / 60_000)} min`;
}

const PERIOD_UNITS: ReadonlyArray<readonly [ms: number, word: string]> = [
  [86_400_000, 'day'],
  [3_600_000, 'hour'],
  [60_000, 'minute'],
];

/** `7 days`, `90 minutes`, `10 seconds`. */
export function formatPeriod(ms: number): string {
  const [unit, word] = PERIOD_UNITS.find(([one]) => ms >= 2 * one) ?? [1_000, 'second'];
  const whole = Math.max(Math.round(ms / unit), 1);
  return `${whole} ${word}${whole === 1 ? '' : 's'}`;
}

const round = (value: number, digits: number): number => Number(value.toFixed(digits));
