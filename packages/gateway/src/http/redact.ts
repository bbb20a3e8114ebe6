/** What leaves: plain data, and no secret in it. */
import { inSlices, type Runtime, type Steps, TurnbuckleError } from 'turnbuckle';
import { toSafeData } from '../http/safe-data.js';

type Redact = (value: unknown) => unknown;
type Redaction = Pick<Runtime, 'redactSteps'>;

/**
 * For what servers and files say: each text without secrets, whatever the name of the key. A schema has a property
 * `password` and still says what it is. It may be large: others get a turn in between.
 */
export const cleanTexts = (value: unknown, redaction: Redaction): Promise<unknown> =>
  inSlices(cleanSteps(value, (text) => redaction.redactSteps(text)));

type Change = (text: string) => Steps<unknown>;

function* cleanSteps(value: unknown, change: Change): Steps<unknown> {
  yield;
  if (typeof value === 'string') return yield* change(value);
  if (typeof value !== 'object' || value === null) return value;
  // One of ours, such as an error. In what others sent it is a key like any other: no function comes out of JSON.
  if (typeof Reflect.get(value, 'toJSON') === 'function') return yield* cleanSteps(toPlain(value), change);
  // What has no secret in it is the same as before: its numbers are then still spelled as they came.
  let isSame = true;
  if (Array.isArray(value)) {
    const list: unknown[] = [];
    for (const part of value) {
      const cleaned = yield* cleanSteps(part ?? null, change);
      isSame &&= cleaned === part;
      list.push(cleaned);
    }
    return isSame ? value : list;
  }
  const entries: Array<[string, unknown]> = [];
  for (const key of Object.keys(value)) {
    const part: unknown = Reflect.get(value, key);
    const [cleaned, name] = [yield* cleanSteps(part, change), String(yield* change(key))];
    isSame &&= cleaned === part && name === key;
    if (cleaned !== undefined) entries.push([name, cleaned]);
  }
  return isSame ? value : Object.fromEntries(entries);
}

/** For what calls carry: also each value under a name that says secret. */
export const cleanData = (value: unknown, redaction: Redaction): Promise<unknown> =>
  inSlices(dataSteps(value, redaction));

function* dataSteps(value: unknown, redaction: Redaction): Steps<unknown> {
  return yield* redaction.redactSteps(yield* cleanSteps(value, unchanged));
}

// biome-ignore lint/correctness/useYield: there is nothing to do.
function* unchanged(text: string): Steps<string> {
  return text;
}

/** The same failure without secrets; what is none of our errors stays inside anyway. */
export function cleanError(thrown: unknown, redact: Redact): unknown {
  if (!(thrown instanceof TurnbuckleError)) return thrown;
  const { code, message, hint, server, tool, data, cause } = thrown;
  return new TurnbuckleError(code, String(redact(message)), {
    hint: hint && String(redact(hint)),
    ...{ server, tool, cause },
    data: cleanFacts(data, redact),
  });
}

function cleanFacts(data: TurnbuckleError['data'], redact: Redact): TurnbuckleError['data'] {
  const told = Object.entries(toSafeData(data) ?? {});
  return Object.fromEntries(told.map(([key, value]) => [key, redact(toPlain(value))]));
}

/** An error as data; undefined stays undefined. */
export const toFault = (error: unknown): Record<string, unknown> | undefined => {
  if (error === undefined) return undefined;
  if (error instanceof TurnbuckleError) return error.toJSON();
  return { code: 'INTERNAL', message: error instanceof Error ? error.message : String(error) };
};

/** In the place of what is wrong with a server: it may quote its command, its address, or what its process said. */
export const UNTOLD = 'It cannot be used now: whoever runs the daemon can see why.';

/** What is wrong with a server, in full for who may manage it. */
export function faultFor(
  error: unknown,
  { isManager }: { readonly isManager: boolean },
): Record<string, unknown> | undefined {
  const fault = toFault(error);
  if (fault === undefined || isManager) return fault;
  const { code, server, time } = fault;
  return { code, message: UNTOLD, server, time };
}

function toPlain(value: unknown): unknown {
  const text = JSON.stringify(value);
  return text === undefined ? undefined : JSON.parse(text);
}
