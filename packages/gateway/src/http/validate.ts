/** Validates the body, which may be missing, and the query of a request. */
import { TurnbuckleError } from 'turnbuckle';
import { copyRawNumbersDeep } from 'turnbuckle/host';
import { describeIssue, truncateKey } from 'turnbuckle/issue-text';
import * as z from 'zod/mini';
import { parseBody, readText } from './body.js';
import type { RequestContext } from './request-context.js';

const MAX_FAULTS = 10;

/** For a route that needs nothing in its body. */
export const EMPTY_OBJECT = z.strictObject({});

/** The body as JSON that matches the schema; REQUEST_INVALID if it is not JSON, ARGUMENTS_INVALID with each invalid key. */
export async function readJson<T>(context: RequestContext, schema: z.ZodMiniType<T>): Promise<T> {
  return checkBody(await parseBody(context, await readText(context)), schema);
}

/** The same; no body counts as `{}`. */
export async function readOptionalJson<T>(context: RequestContext, schema: z.ZodMiniType<T>): Promise<T> {
  const text = await readText(context);
  return checkBody(text.trim() === '' ? {} : await parseBody(context, text), schema);
}

/** The validator copies what it checks: the raw numbers have to be copied along. */
const checkBody = <T>(sent: unknown, schema: z.ZodMiniType<T>): T =>
  copyRawNumbersDeep(sent, parseWithSchema(sent, schema, 'body'));

/** The query as an object that matches. A duplicate name is an error: readers could disagree about which one counts. */
export function readQuery<T>({ query }: RequestContext, schema: z.ZodMiniType<T>): T {
  const names = [...query.keys()];
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined)
    throw invalidInput('query', [{ path: truncateKey(twice), message: 'specified more than once' }]);
  return parseWithSchema(Object.fromEntries(query), schema, 'query');
}

function parseWithSchema<T>(value: unknown, schema: z.ZodMiniType<T>, what: 'body' | 'query'): T {
  const checked = z.safeParse(schema, value, { error: describeIssue });
  if (checked.success) return checked.data;
  const faults = checked.error.issues.slice(0, MAX_FAULTS).map((issue) => {
    const at = pathText(issue.path);
    const isUnknown = issue.code === 'unrecognized_keys';
    return { path: isUnknown ? pathText(pathOfUnknown(issue)) : at, message: issue.message, at };
  });
  throw invalidInput(what, faults);
}

interface InputFault {
  readonly path: string;
  readonly message: string;
  /** The path in the text, if the message names the last key itself. */
  readonly at?: string;
}

/** ARGUMENTS_INVALID with each invalid key. */
export function invalidInput(what: 'body' | 'query', faults: readonly InputFault[]): TurnbuckleError {
  const list = faults
    .map(({ path, message, at = path }) => (at === '' ? message : `at "${at}": ${message}`))
    .join('; ');
  const [first] = faults;
  const start = (first?.at ?? first?.path) === '' ? `Invalid request ${what}:` : `Invalid request ${what}`;
  return new TurnbuckleError('ARGUMENTS_INVALID', `${start} ${list}.`, {
    hint: 'Nothing was done. Correct these keys.',
    data: { faults: faults.map(({ path, message }) => ({ path, message })) },
  });
}

/** Of several unknown keys, their object: the message names them. */
const pathOfUnknown = ({
  path,
  keys,
}: {
  path: readonly PropertyKey[];
  keys: readonly string[];
}): readonly PropertyKey[] => {
  const [key, ...others] = keys;
  return key === undefined || others.length > 0 ? path : [...path, truncateKey(key)];
};

/** `servers[0].name`, the same form as in errors of calls. */
function pathText(path: readonly PropertyKey[]): string {
  return path.reduce<string>((text, key) => {
    if (typeof key === 'number') return `${text}[${key}]`;
    const name = truncateKey(String(key));
    return text === '' ? name : `${text}.${name}`;
  }, '');
}
