/** Reads the keys of one entry and tracks which are unused. */
import { type Entry, isEntry } from '../formats/plain-value.js';

export interface FieldReader {
  /** The first of these keys that is there: its text. */
  text(...keys: readonly string[]): string | undefined;
  texts(...keys: readonly string[]): string[] | undefined;
  textMap(...keys: readonly string[]): Record<string, string> | undefined;
  flag(key: string): boolean | undefined;
  amount(key: string): number | undefined;
  /** Any value; the caller checks it. */
  any(key: string): unknown;
  /** What is there and was not taken. */
  rest(): Record<string, unknown>;
  /** Keys whose value has the wrong type. */
  readonly typeErrors: readonly string[];
}

/** Null counts as absent. A value of the wrong type is a fault, not an exception. */
export function createFieldReader(entry: Entry): FieldReader {
  const left = new Map(Object.entries(entry).filter(([, value]) => value !== null && value !== undefined));
  const typeErrors: string[] = [];

  function take<T>(keys: readonly string[], expected: string, convert: (value: unknown) => T | undefined) {
    const key = keys.find((candidate) => left.has(candidate));
    if (key === undefined) return undefined;
    const converted = convert(left.get(key));
    left.delete(key);
    if (converted === undefined) typeErrors.push(`"${key}" is not ${expected}`);
    return converted;
  }

  return {
    text: (...keys) => take(keys, 'a string', asText),
    texts: (...keys) => take(keys, 'a list of strings', asTexts),
    textMap: (...keys) => take(keys, 'a map of strings', asTextMap),
    flag: (key) => take([key], 'true or false', (value) => (typeof value === 'boolean' ? value : undefined)),
    amount: (key) => take([key], 'a number', asAmount),
    any: (key) => take([key], 'a value', (value) => value),
    rest: () => Object.fromEntries(left),
    typeErrors,
  };
}

const asText = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

const asAmount = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isFinite(value) ? value : undefined;

/** Numbers and booleans are meant as their text: a port, a switch. */
function asLooseText(value: unknown): string | undefined {
  if (typeof value === 'number' || typeof value === 'boolean' || typeof value === 'bigint')
    return String(value);
  return asText(value);
}

function asTexts(value: unknown): string[] | undefined {
  if (!Array.isArray(value)) return undefined;
  const texts = value.map(asLooseText).filter((item) => item !== undefined);
  return texts.length === value.length ? texts : undefined;
}

/** A map, or a list of `KEY=value` texts. */
function asTextMap(value: unknown): Record<string, string> | undefined {
  if (Array.isArray(value)) {
    const pairs = value.map((item) => (typeof item === 'string' ? /^([^=]+)=(.*)$/s.exec(item) : null));
    if (pairs.some((pair) => pair === null)) return undefined;
    return Object.fromEntries(pairs.map((pair) => [pair?.[1] ?? '', pair?.[2] ?? '']));
  }
  if (!isEntry(value)) return undefined;
  const pairs = Object.entries(value).filter(([, item]) => item !== null);
  const texts = pairs.flatMap(([key, item]) => {
    const text = asLooseText(item);
    return text === undefined ? [] : [[key, text] as const];
  });
  return texts.length === pairs.length ? Object.fromEntries(texts) : undefined;
}
