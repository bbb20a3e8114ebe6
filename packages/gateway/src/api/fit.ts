/** What was sent, held to its schema: the body, which may be missing, and the query. */
import { TurnbuckleError } from 'turnbuckle';
import { describeIssue, shortKey } from 'turnbuckle/issue-text';
import * as z from 'zod/mini';
import { parseText, readText } from '../http/body.js';
import type { Visit } from '../http/visit.js';

const MAX_FAULTS = 10;

/** For a route that needs nothing in its body. */
export const NOTHING = z.strictObject({});

/** The body as JSON that fits; none is as good as `{}`. REQUEST_INVALID, or ARGUMENTS_INVALID with each key. */
export async function readBody<T>(visit: Visit, schema: z.ZodMiniType<T>): Promise<T> {
  const text = await readText(visit);
  return fit(text.trim() === '' ? {} : await parseText(visit, text), schema, 'body');
}

/** The query as an object that fits. A name that comes twice is a fault: readers could disagree about it. */
export function readQuery<T>({ query }: Visit, schema: z.ZodMiniType<T>): T {
  const names = [...query.keys()];
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined)
    throw misfit('query', [{ path: shortKey(twice), message: 'it comes more than once' }]);
  return fit(Object.fromEntries(query), schema, 'query');
}

function fit<T>(value: unknown, schema: z.ZodMiniType<T>, what: 'body' | 'query'): T {
  const checked = z.safeParse(schema, value, { error: describeIssue });
  if (checked.success) return checked.data;
  throw misfit(
    what,
    checked.error.issues
      .slice(0, MAX_FAULTS)
      .map(({ path, message }) => ({ path: path.map((key) => shortKey(String(key))).join('.'), message })),
  );
}

/** ARGUMENTS_INVALID with what is wrong with which key. */
export function misfit(
  what: 'body' | 'query',
  faults: ReadonlyArray<{ readonly path: string; readonly message: string }>,
): TurnbuckleError {
  const list = faults.map(({ path, message }) => (path === '' ? message : `${path}: ${message}`)).join('; ');
  return new TurnbuckleError('ARGUMENTS_INVALID', `The ${what} of the request does not fit: ${list}.`, {
    hint: 'Nothing was done. Correct the named keys.',
    data: { faults },
  });
}
