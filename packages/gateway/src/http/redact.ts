/** Takes secrets out of response data. */
import { type Runtime, TurnbuckleError } from 'turnbuckle';
import { inSlices, type Steps } from 'turnbuckle/host';
import { toSafeData } from './safe-data.js';

type Redact = (value: unknown) => unknown;
type Redaction = Pick<Runtime, 'redactSteps'>;

/**
 * For texts of servers and files: redacts each string, regardless of its key. A schema may have a property named
 * `password` and must still show it. The value may be large, so it is processed in slices.
 */
export const redactTexts = (value: unknown, redaction: Redaction): Promise<unknown> =>
  inSlices(redactTextSteps(value, (text) => redaction.redactSteps(text)));

type TextTransform = (text: string) => Steps<unknown>;

function* redactTextSteps(value: unknown, change: TextTransform): Steps<unknown> {
  yield;
  if (typeof value === 'string') return yield* change(value);
  if (typeof value !== 'object' || value === null) return value;
  // One of our classes, such as an error. In data of others `toJSON` is a plain key: JSON has no functions.
  if (typeof Reflect.get(value, 'toJSON') === 'function')
    return yield* redactTextSteps(toPlain(value), change);
  // An unchanged value is returned as it is, so that its raw numbers are kept.
  let isSame = true;
  if (Array.isArray(value)) {
    const list: unknown[] = [];
    for (const part of value) {
      const cleaned = yield* redactTextSteps(part ?? null, change);
      isSame &&= cleaned === part;
      list.push(cleaned);
    }
    return isSame ? value : list;
  }
  const entries: Array<[string, unknown]> = [];
  for (const key of Object.keys(value)) {
    const part: unknown = Reflect.get(value, key);
    const [cleaned, name] = [yield* redactTextSteps(part, change), String(yield* change(key))];
    isSame &&= cleaned === part && name === key;
    if (cleaned !== undefined) entries.push([name, cleaned]);
  }
  return isSame ? value : Object.fromEntries(entries);
}

/** For data of calls: also redacts each value whose key names a secret. */
export const redactData = (value: unknown, redaction: Redaction): Promise<unknown> =>
  inSlices(redactDataSteps(value, redaction));

function* redactDataSteps(value: unknown, redaction: Redaction): Steps<unknown> {
  return yield* redaction.redactSteps(yield* redactTextSteps(value, unchanged));
}

// biome-ignore lint/correctness/useYield: there is nothing to do.
function* unchanged(text: string): Steps<string> {
  return text;
}

/** The same error without secrets. Foreign errors are never sent anyway. */
export function redactError(thrown: unknown, redact: Redact): unknown {
  if (!(thrown instanceof TurnbuckleError)) return thrown;
  const { code, message, hint, server, tool, data, cause } = thrown;
  return new TurnbuckleError(code, String(redact(message)), {
    hint: hint && String(redact(hint)),
    ...{ server, tool, cause },
    data: redactErrorData(data, redact),
  });
}

function redactErrorData(data: TurnbuckleError['data'], redact: Redact): TurnbuckleError['data'] {
  const sent = Object.entries(toSafeData(data) ?? {});
  return Object.fromEntries(sent.map(([key, value]) => [key, redact(toPlain(value))]));
}

/** An error as data; undefined stays undefined. */
export const toErrorData = (error: unknown): Record<string, unknown> | undefined => {
  if (error === undefined) return undefined;
  if (error instanceof TurnbuckleError) return error.toJSON();
  return { code: 'INTERNAL', message: error instanceof Error ? error.message : String(error) };
};

/** Replaces the details of a server's error, which may quote its command, its URL or the output of its process. */
export const HIDDEN_ERROR_MESSAGE = 'Server unavailable. For details, ask the owner of the daemon.';

/** The error of a server, in full only for readers that may manage it. */
export function errorDataFor(
  error: unknown,
  { isManager }: { readonly isManager: boolean },
): Record<string, unknown> | undefined {
  const fault = toErrorData(error);
  if (fault === undefined || isManager) return fault;
  const { code, server, time } = fault;
  return { code, message: HIDDEN_ERROR_MESSAGE, server, time };
}

function toPlain(value: unknown): unknown {
  const text = JSON.stringify(value);
  return text === undefined ? undefined : JSON.parse(text);
}
