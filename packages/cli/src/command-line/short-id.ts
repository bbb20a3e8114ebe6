/** Ids on the terminal: shown by their beginning, and found by it. */
import { TurnbuckleError } from 'turnbuckle';

const SHOWN_LENGTH = 8;
/** A shorter beginning could be that of another one unnoticed. */
const MIN_LENGTH = 4;
/** Of a UUID. */
const FULL_LENGTH = 36;

/** The beginnings of ids, long enough to tell them apart. */
export function shortIds(ids: readonly string[]): readonly string[] {
  const short = ids.map((id) => id.slice(0, SHOWN_LENGTH));
  return new Set(short).size === new Set(ids).size ? short : ids;
}

export const shortId = (id: string): string => id.slice(0, SHOWN_LENGTH);

/** The id that begins like this; as it is written where none does. */
export async function resolveShortId(typed: string, list: () => Promise<readonly string[]>): Promise<string> {
  if (typed.length < MIN_LENGTH || typed.length >= FULL_LENGTH) return typed;
  const ids = await list();
  const [found, ...more] = ids.filter((id) => id.startsWith(typed));
  if (found === undefined || ids.includes(typed)) return typed;
  if (more.length === 0) return found;
  throw new TurnbuckleError('ARGUMENTS_INVALID', `The id "${typed}" is ambiguous.`, {
    hint: 'Enter more characters of the id.',
  });
}
