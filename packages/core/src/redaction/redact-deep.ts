/** Goes through data of any shape and puts each text, and each value under a secret's name, into safe form. */
import { isOpen } from '../text/redact-shapes.js';

export interface DeepRules {
  readonly text: (text: string) => string;
  readonly isSecretName: (name: string) => boolean;
  /** What stands in the place of a secret. */
  readonly mark: string;
}

/** What is nested deeper is not looked at, and not passed on either. */
export const DEEPEST = 64;

/** The value itself when nothing in it has to go, else a copy; rings stay rings. Never throws. */
export function redactDeep(value: unknown, rules: DeepRules): unknown {
  const copier = new Copier(rules);
  return isClean(value, { copier, seen: new Set() }) ? value : copier.copy(value);
}

/** Where in the data a value stands, and whether that is under a secret's name. */
export interface Place {
  readonly depth: number;
  readonly hidden: boolean;
}

/** Whether nothing in it has to go. */
export const isCleanDeep = (value: unknown, rules: DeepRules, place?: Place): boolean =>
  isClean(value, { copier: new Copier(rules), seen: new Set() }, place);

interface Look {
  readonly copier: Copier;
  readonly seen: Set<object>;
}

function isClean(value: unknown, { copier, seen }: Look, { depth = 0, hidden = false } = {}): boolean {
  if (typeof value !== 'object' || value === null) return copier.leaf(value, hidden) === value;
  if (seen.has(value)) return true;
  if (depth > DEEPEST) return false;
  seen.add(value);
  if (copier.isWhole(value)) return copier.whole(value) === value;
  return partsOf(value).every(
    ([key, part]) =>
      copier.key(key) === key &&
      isClean(part, { copier, seen }, { depth: depth + 1, hidden: copier.hides(key, hidden) }),
  );
}

export class Copier {
  readonly #rules: DeepRules;
  readonly #copies = new Map<object, unknown>();

  constructor(rules: DeepRules) {
    this.#rules = rules;
  }

  copy(value: unknown, depth = 0, hidden = false): unknown {
    if (typeof value !== 'object' || value === null) return this.leaf(value, hidden);
    if (this.#copies.has(value)) return this.#copies.get(value);
    if (depth > DEEPEST) return this.#rules.mark;
    if (this.isWhole(value)) return this.whole(value);
    const { target, put } = emptyLike(value);
    this.#copies.set(value, target);
    for (const [key, part] of partsOf(value)) {
      const shown = key === 'stack' ? redactStack(value, this.#rules.text) : part;
      put(this.key(key), this.copy(shown, depth + 1, this.hides(key, hidden)));
    }
    return target;
  }

  leaf(value: unknown, hidden: boolean): unknown {
    const { mark, text } = this.#rules;
    if (typeof value === 'string') return hidden && !isOpen(value) ? mark : text(value);
    return hidden && (typeof value === 'number' || typeof value === 'bigint') ? mark : value;
  }

  key(key: unknown): unknown {
    return typeof key === 'string' ? this.#rules.text(key) : key;
  }

  /** Lists and maps under a secret's name hold secrets; what is said about signing in mostly does not. */
  hides(key: unknown, hidden: boolean): boolean {
    if (typeof key !== 'string') return hidden;
    const { isSecretName, text } = this.#rules;
    // A name that held a secret itself says less, or more, without it.
    return (hidden && !isPublicName(key)) || isSecretName(key) || isSecretName(text(key));
  }

  /** Not looked into: dates, bytes and the like. */
  isWhole(value: object): boolean {
    return (
      value instanceof Date || value instanceof RegExp || value instanceof URL || ArrayBuffer.isView(value)
    );
  }

  whole(value: object): unknown {
    const { text, mark } = this.#rules;
    if (value instanceof URL) return text(value.href) === value.href ? value : text(value.href);
    if (!ArrayBuffer.isView(value)) return value;
    const bytes = new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
    const read = new TextDecoder('latin1').decode(bytes);
    return text(read) === read ? value : mark;
  }
}

/** A stack begins with the message: where that ends, the stack does not. */
export function redactStack(error: object, text: DeepRules['text']): string | undefined {
  const [message, stack] = ['message', 'stack'].map((name) => read(error, name));
  if (typeof stack !== 'string') return undefined;
  return text(
    typeof message === 'string' && message !== '' ? stack.replace(message, () => text(message)) : stack,
  );
}

/** What stands under it is said about a secret, and is none. */
export const isPublicName = (name: string): boolean => PUBLIC.test(name);

const PUBLIC = /^(?:type|kind|issuer|scopes?|required)$/i;

type Part = readonly [key: unknown, value: unknown];

function partsOf(value: object): Part[] {
  if (Array.isArray(value)) return value.map((part: unknown, index) => [index, part]);
  if (value instanceof Map) return [...value];
  if (value instanceof Set) return [...value].map((part: unknown) => [undefined, part]);
  const names = value instanceof Error ? Object.getOwnPropertyNames(value) : Object.keys(value);
  if (value instanceof Error && !names.includes('name')) names.push('name');
  return names.map((name) => [name, read(value, name)]);
}

function read(value: object, name: string): unknown {
  try {
    return Reflect.get(value, name);
  } catch {
    return undefined;
  }
}

interface Target {
  readonly target: object;
  readonly put: (key: unknown, value: unknown) => void;
}

export function emptyLike(value: object): Target {
  if (Array.isArray(value)) {
    const list: unknown[] = [];
    return { target: list, put: (_key, part) => void list.push(part) };
  }
  if (value instanceof Map) {
    const map = new Map<unknown, unknown>();
    return { target: map, put: (key, part) => void map.set(key, part) };
  }
  if (value instanceof Set) {
    const set = new Set<unknown>();
    return { target: set, put: (_key, part) => void set.add(part) };
  }
  const isError = value instanceof Error;
  const target: object = isError ? new Error() : {};
  const counts = new Map<string, number>();
  return { target, put: (key, part) => define(target, String(key), { part, hidden: isError, counts }) };
}

const UNLISTED = new Set(['message', 'stack', 'cause', 'name', 'errors']);

interface Defined {
  readonly part: unknown;
  readonly hidden: boolean;
  /** How often each name was met: thousands may become the same. */
  readonly counts: Map<string, number>;
}

/** Two names that became the same both stay. */
function define(target: object, name: string, { part, hidden, counts }: Defined): void {
  const unlisted = hidden && UNLISTED.has(name);
  let free = name;
  if (!unlisted && Object.hasOwn(target, name)) {
    let count = counts.get(name) ?? 1;
    while (Object.hasOwn(target, free)) {
      count += 1;
      free = `${name} ${count}`;
    }
    counts.set(name, count);
  }
  Object.defineProperty(target, free, {
    value: part,
    enumerable: !unlisted,
    writable: true,
    configurable: true,
  });
}
