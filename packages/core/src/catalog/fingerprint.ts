/** What a tool is, as a hash: two definitions with the same fingerprint are the same tool to an agent. */
import { createHash } from 'node:crypto';
import { isRecord } from '../is-record.js';
import { COUNTED_FIELDS } from '../policy/definition-diff.js';

/** SHA-256 over the parts of a definition that shape what an agent reads and sends; key order is no part of it. */
export function fingerprint(definition: Readonly<Record<string, unknown>>): string {
  const counted = Object.fromEntries(
    COUNTED_FIELDS.flatMap((key) => (key in definition ? [[key, definition[key]]] : [])),
  );
  return createHash('sha256').update(canonicalJson(counted)).digest('hex');
}

/** JSON with sorted keys: equal values have equal texts. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) =>
    isRecord(part)
      ? Object.fromEntries(Object.entries(part).sort(([left], [right]) => (left < right ? -1 : 1)))
      : part,
  );
}
