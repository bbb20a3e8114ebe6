import { TurnbuckleError } from 'turnbuckle';
import { parseDuration, parseTimestamp } from '../terminal/time-format.js';

/** `30m`, `12h`, `7d`, or a date: the moment it means. */
export function parseExpiry(text: string, now: number): Date {
  const span = parseDuration(text);
  const moment = span === undefined ? parseTimestamp(text) : now + span;
  if (moment !== undefined && moment > now) return new Date(moment);
  const fault = moment === undefined ? 'is not a duration or a date' : 'is in the past';
  throw new TurnbuckleError('ARGUMENTS_INVALID', `--expires "${text}" ${fault}.`, {
    hint: 'For example --expires 30m, --expires 7d or --expires 2030-01-31',
  });
}
