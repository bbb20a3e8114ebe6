/** What a validation says, in plain English: the small validator brings no words of its own. */
import type { $ZodRawIssue } from 'zod/v4/core';
import en from 'zod/v4/locales/en.js';
import { isRecord } from '../is-record.js';
import { nearest } from './nearest.js';

export { describeSyntax } from './syntax-text.js';

const describe = en().localeError;
/** Of what nobody asked for, so much is told. */
const MAX_KEYS = 10;
const LONGEST_KEY = 100;

const TYPES: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
};

/** For `safeParse`: the sentence for an issue. */
export function describeIssue(issue: $ZodRawIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return `expected ${TYPES[String(issue.expected)] ?? issue.expected}, found ${kindOf(issue.input)}`;
    case 'invalid_value':
      return `expected ${anyOf(issue.values)}`;
    case 'unrecognized_keys': {
      const known = knownKeys(issue.inst);
      const told = issue.keys.slice(0, MAX_KEYS).map((key) => unknownKey(key, known));
      const untold = issue.keys.length - told.length;
      return [...told, ...(untold > 0 ? [`${untold} more unknown keys`] : [])].join('; ');
    }
    default: {
      const said = describe(issue);
      const text = typeof said === 'string' ? said : (said?.message ?? 'it does not fit');
      return text.replace(/^Invalid input: |^Too (?:small|big): /, '');
    }
  }
}

/** A key as it is told: whoever sends millions of characters knows which it is by the first. */
export const shortKey = (key: string): string =>
  key.length > LONGEST_KEY ? `${key.slice(0, LONGEST_KEY - 1)}…` : key;

/** The same for one key; in brackets, so that a sentence can go on or end after it. */
export function unknownKey(key: string, known: readonly string[]): string {
  const close = nearest(key, known);
  return `unknown key "${shortKey(key)}"${close === undefined ? '' : ` (did you mean "${close}"?)`}`;
}

/** The part of a description of unknown keys that is about one of them. */
export function unknownKeyIn(description: string, index: number, key: string): string {
  const parts = description.split(/; (?=unknown key ")/);
  return parts[index]?.startsWith(`unknown key "${shortKey(key)}"`) ? parts[index] : unknownKey(key, []);
}

/** What a description says was expected, without what was found: for who shows that in another way. */
export const expectedOnly = (text: string): string => text.replace(/, found [^,]*$/, '');

function anyOf(values: readonly unknown[]): string {
  const shown = values.map((value) => (typeof value === 'string' ? `"${value}"` : String(value)));
  const last = shown.pop() ?? 'nothing';
  return shown.length === 0 ? last : `${shown.join(', ')} or ${last}`;
}

/** Only what kind of thing it is: the value may be a secret. */
function kindOf(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'number' && !Number.isFinite(value)) return String(value);
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

/** Those of the schema that found the key too many. */
function knownKeys(schema: unknown): string[] {
  const internals: unknown = isRecord(schema) ? schema._zod : undefined;
  const definition: unknown = isRecord(internals) ? internals.def : undefined;
  const shape: unknown = isRecord(definition) ? definition.shape : undefined;
  return isRecord(shape) ? Object.keys(shape) : [];
}
