import { TurnbuckleError } from 'turnbuckle';
import { readMoment, readSpan } from './time-words.js';

/** `30m`, `12h`, `7d`, or a date: the moment it means. */
export function readUntil(text: string, now: number): Date {
  const span = readSpan(text);
  const moment = span === undefined ? readMoment(text) : now + span;
  if (moment !== undefined && moment > now) return new Date(moment);
  const fault = moment === undefined ? 'is not a time' : 'is over already';
  throw new TurnbuckleError('ARGUMENTS_INVALID', `--expires "${text}" ${fault}.`, {
    hint: 'For example --expires 30m, --expires 7d or --expires 2030-01-31',
  });
}
