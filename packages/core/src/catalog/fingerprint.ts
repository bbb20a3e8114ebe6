/** A tool as a hash: definitions with the same fingerprint are the same tool to an agent. */
import { createHash } from 'node:crypto';
import { isRecord } from '../json/is-record.js';
import { isSameJson } from '../json/same-json.js';
import { FINGERPRINTED_FIELDS } from './definition-diff.js';

type Definition = Readonly<Record<string, unknown>>;

/** SHA-256 of the parts of a definition that an agent reads or that shape what it sends, independent of key order. */
export const fingerprint = (definition: Definition): string => computeFingerprint(definition).hash;

/** The length of the JSON that is hashed. */
export const fingerprintedLength = (definition: Definition): number => computeFingerprint(definition).length;

function computeFingerprint(definition: Definition): FingerprintResult {
  const known = fingerprintCache.get(definition);
  if (known !== undefined) return known;
  const counted = Object.fromEntries(
    FINGERPRINTED_FIELDS.flatMap((key) => (key in definition ? [[key, definition[key]]] : [])),
  );
  const text = canonicalJson(counted);
  const print = { hash: createHash('sha256').update(text).digest('hex'), length: text.length };
  fingerprintCache.set(definition, print);
  return print;
}

interface FingerprintResult {
  readonly hash: string;
  readonly length: number;
}

/** A definition is immutable once it is read. */
const fingerprintCache = new WeakMap<object, FingerprintResult>();

/** Whether both have the same fingerprint, without computing it. */
export const isSameTool = (left: Definition, right: Definition): boolean =>
  left === right || FINGERPRINTED_FIELDS.every((key) => isSameJson(left[key], right[key]));

/** JSON with sorted keys: equal values have equal texts. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) =>
    isRecord(part)
      ? Object.fromEntries(Object.entries(part).sort(([left], [right]) => (left < right ? -1 : 1)))
      : part,
  );
}
