/** What a tool is, as a hash: two definitions with the same fingerprint are the same tool to an agent. */
import { createHash } from 'node:crypto';
import { isRecord } from '../is-record.js';
import { COUNTED_FIELDS } from '../policy/definition-diff.js';
import { isSameJson } from './same-json.js';

type Definition = Readonly<Record<string, unknown>>;

/** SHA-256 over the parts of a definition that shape what an agent reads and sends; key order is no part of it. */
export const fingerprint = (definition: Definition): string => printOf(definition).hash;

/** How long the JSON is of which the fingerprint is made. */
export const countedLength = (definition: Definition): number => printOf(definition).length;

function printOf(definition: Definition): Print {
  const known = prints.get(definition);
  if (known !== undefined) return known;
  const counted = Object.fromEntries(
    COUNTED_FIELDS.flatMap((key) => (key in definition ? [[key, definition[key]]] : [])),
  );
  const text = canonicalJson(counted);
  const print = { hash: createHash('sha256').update(text).digest('hex'), length: text.length };
  prints.set(definition, print);
  return print;
}

interface Print {
  readonly hash: string;
  readonly length: number;
}

/** A definition is not changed any more once it is read. */
const prints = new WeakMap<object, Print>();

/** Whether both have the same fingerprint, without making it. */
export const isSameTool = (left: Definition, right: Definition): boolean =>
  left === right || COUNTED_FIELDS.every((key) => isSameJson(left[key], right[key]));

/** JSON with sorted keys: equal values have equal texts. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) =>
    isRecord(part)
      ? Object.fromEntries(Object.entries(part).sort(([left], [right]) => (left < right ? -1 : 1)))
      : part,
  );
}
