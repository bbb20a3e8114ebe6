/** What a tool is, as a hash: two definitions with the same fingerprint are the same tool to an agent. */
import { createHash } from 'node:crypto';
import { isRecord } from '../is-record.js';
import { COUNTED_FIELDS } from '../policy/definition-diff.js';
import { isSameJson } from './same-json.js';

type Definition = Readonly<Record<string, unknown>>;

/** SHA-256 over the parts of a definition that shape what an agent reads and sends; key order is no part of it. */
export function fingerprint(definition: Definition): string {
  const known = fingerprints.get(definition);
  if (known !== undefined) return known;
  const counted = Object.fromEntries(
    COUNTED_FIELDS.flatMap((key) => (key in definition ? [[key, definition[key]]] : [])),
  );
  const hash = createHash('sha256').update(canonicalJson(counted)).digest('hex');
  fingerprints.set(definition, hash);
  return hash;
}

/** A definition is not changed any more once it is read. */
const fingerprints = new WeakMap<object, string>();

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
