/** Validation errors in plain English: the small validator has no messages. */
import type { $ZodRawIssue } from 'zod/v4/core';
import en from 'zod/v4/locales/en.js';
import { isRecord } from '../../json/is-record.js';
import { nearest } from '../../text/nearest.js';

export { describeSyntax } from '../layers/syntax-text.js';

const describe = en().localeError;
/** Maximum number of unknown keys in a message. */
const MAX_REPORTED_KEYS = 10;
const MAX_KEY_LENGTH = 100;

const TYPES: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
};

/** For `safeParse`: the message for an issue. */
export function describeIssue(issue: $ZodRawIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return `expected ${TYPES[String(issue.expected)] ?? issue.expected}, found ${foundFor(issue)}`;
    case 'invalid_value':
      return `expected ${anyOf(issue.values)}, found ${misspelling(issue) ?? kindOf(issue.input)}`;
    case 'too_small':
      return `expected ${issue.inclusive === false ? 'more than' : 'at least'} ${amount(issue.minimum, issue.origin)}`;
    case 'too_big':
      return `expected ${issue.inclusive === false ? 'less than' : 'at most'} ${amount(issue.maximum, issue.origin)}`;
    case 'unrecognized_keys': {
      const known = knownKeys(issue.inst);
      const reported = issue.keys.slice(0, MAX_REPORTED_KEYS).map((key) => unknownKey(key, known));
      const omittedCount = issue.keys.length - reported.length;
      return [...reported, ...(omittedCount > 0 ? [`${omittedCount} more unknown keys`] : [])].join('; ');
    }
    default: {
      const said = describe(issue);
      const text = typeof said === 'string' ? said : (said?.message ?? 'invalid value');
      return text.replace(/^Invalid input: |^Too (?:small|big): /, '');
    }
  }
}

/** A key as shown in messages, truncated. */
export const truncateKey = (key: string): string =>
  key.length > MAX_KEY_LENGTH ? `${key.slice(0, MAX_KEY_LENGTH - 1)}…` : key;

/** The message for one unknown key; the suggestion is in parentheses, so that a sentence can continue after it. */
export function unknownKey(key: string, known: readonly string[]): string {
  const close = nearest(key, known);
  return `unknown key "${truncateKey(key)}"${close === undefined ? '' : ` (did you mean "${close}"?)`}`;
}

/** The part of a message about unknown keys that belongs to one key. */
export function unknownKeyIn(description: string, index: number, key: string): string {
  const parts = description.split(/; (?=unknown key ")/);
  return parts[index]?.startsWith(`unknown key "${truncateKey(key)}"`) ? parts[index] : unknownKey(key, []);
}

/** The message without what was found, for callers that add it in another form. */
export const expectedOnly = (text: string): string => text.replace(/, found [^,]*$/, '');

function anyOf(values: readonly unknown[]): string {
  const shown = values.map((value) => (typeof value === 'string' ? `"${value}"` : String(value)));
  const last = shown.pop() ?? 'nothing';
  return shown.length === 0 ? last : `${shown.join(', ')} or ${last}`;
}

const UNITS: Readonly<Record<string, readonly [one: string, many: string]>> = {
  string: [' character', ' characters'],
  array: [' entry', ' entries'],
};

/** A limit with what it counts; nothing for numbers. */
const amount = (limit: number | bigint, origin: string): string =>
  `${limit}${UNITS[origin]?.[limit === 1 ? 0 : 1] ?? ''}`;

/** A value that resembles an allowed one is no secret. */
function misspelling({ input, values }: { input?: unknown; values: readonly unknown[] }): string | undefined {
  const words = values.filter((value) => typeof value === 'string');
  return typeof input === 'string' && nearest(input, words) !== undefined ? `"${input}"` : undefined;
}

const foundFor = ({ expected, input }: { expected: unknown; input?: unknown }): string =>
  expected === 'int' && Number.isFinite(input) ? 'a number with a fraction' : kindOf(input);

/** Only the type: the value may be a secret. */
function kindOf(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'number' && !Number.isFinite(value)) return String(value);
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

/** The keys of the schema that rejected the unknown key. */
function knownKeys(schema: unknown): string[] {
  const internals: unknown = isRecord(schema) ? schema._zod : undefined;
  const definition: unknown = isRecord(internals) ? internals.def : undefined;
  const shape: unknown = isRecord(definition) ? definition.shape : undefined;
  return isRecord(shape) ? Object.keys(shape) : [];
}
