import { TurnbuckleError } from 'turnbuckle';

const DEFAULT_LIMIT = 20;
const MAX_LIMIT = 1_000;

/** The value of --limit. */
export function parseLimit(text: unknown): number {
  if (text === undefined) return DEFAULT_LIMIT;
  const limit = Number(text);
  if (Number.isInteger(limit) && limit > 0 && limit <= MAX_LIMIT) return limit;
  throw new TurnbuckleError(
    'ARGUMENTS_INVALID',
    `Invalid --limit "${String(text)}": expected a number from 1 to ${MAX_LIMIT}.`,
    { hint: 'For example --limit 100' },
  );
}
