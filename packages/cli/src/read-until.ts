import { TurnbuckleError } from 'turnbuckle';

const UNITS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };

/** `30m`, `12h`, `7d`, or a date: the moment it means. */
export function readUntil(text: string, now: number): Date {
  const [, count, unit = ''] = /^(\d{1,6})\s*([mhdw])$/.exec(text.trim()) ?? [];
  const moment = count === undefined ? Date.parse(text) : now + Number(count) * (UNITS[unit] ?? 0);
  if (moment > now) return new Date(moment);
  const fault = Number.isNaN(moment) ? 'is not a time' : 'is over already';
  throw new TurnbuckleError('ARGUMENTS_INVALID', `--expires "${text}" ${fault}.`, {
    hint: 'For example --expires 30m, --expires 7d or --expires 2030-01-31',
  });
}
