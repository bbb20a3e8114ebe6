/** Traverses data of any shape and makes each text, and each value under a secret's name, safe. */
import { isOnlyPlaceholders } from './redact-shapes.js';

export interface RedactionRules {
  readonly text: (text: string) => string;
  readonly isSecretName: (name: string) => boolean;
  /** Replaces a secret. */
  readonly mark: string;
}

/** Deeper values are neither checked nor passed on. */
export const MAX_REDACTION_DEPTH = 64;

/** The value itself if there is nothing to redact, otherwise a copy; cycles stay cycles. Never throws. */
export function redactDeep(value: unknown, rules: RedactionRules): unknown {
  const copier = new RedactingCopier(rules);
  return isClean(value, { copier, seen: new Set() }) ? value : copier.copy(value);
}

/** The position of a value, and whether it is under a secret's name. */
export interface RedactionPosition {
  readonly depth: number;
  readonly hidden: boolean;
}

/** Whether there is nothing to redact. */
export const isCleanDeep = (value: unknown, rules: RedactionRules, place?: RedactionPosition): boolean =>
  isClean(value, { copier: new RedactingCopier(rules), seen: new Set() }, place);

interface CleanScan {
  readonly copier: RedactingCopier;
  readonly seen: Set<object>;
}

function isClean(value: unknown, { copier, seen }: CleanScan, { depth = 0, hidden = false } = {}): boolean {
  if (typeof value !== 'object' || value === null) return copier.redactLeaf(value, hidden) === value;
  if (seen.has(value)) return true;
  if (depth > MAX_REDACTION_DEPTH) return false;
  seen.add(value);
  if (copier.isOpaque(value)) return copier.redactOpaque(value) === value;
  return partsOf(value).every(
    ([key, part]) =>
      copier.redactKey(key) === key &&
      isClean(part, { copier, seen }, { depth: depth + 1, hidden: copier.hides(key, hidden) }),
  );
}

export class RedactingCopier {
  readonly #rules: RedactionRules;
  readonly #copies = new Map<object, unknown>();

  constructor(rules: RedactionRules) {
    this.#rules = rules;
  }

  copy(value: unknown, depth = 0, hidden = false): unknown {
    if (typeof value !== 'object' || value === null) return this.redactLeaf(value, hidden);
    if (this.#copies.has(value)) return this.#copies.get(value);
    if (depth > MAX_REDACTION_DEPTH) return this.#rules.mark;
    if (this.isOpaque(value)) return this.redactOpaque(value);
    const { target, put } = emptyLike(value);
    this.#copies.set(value, target);
    for (const [key, part] of partsOf(value)) {
      const shown = key === 'stack' ? redactStack(value, this.#rules.text) : part;
      put(this.redactKey(key), this.copy(shown, depth + 1, this.hides(key, hidden)));
    }
    return target;
  }

  redactLeaf(value: unknown, hidden: boolean): unknown {
    const { mark, text } = this.#rules;
    if (typeof value === 'string') return hidden && !isOnlyPlaceholders(value) ? mark : text(value);
    return hidden && (typeof value === 'number' || typeof value === 'bigint') ? mark : value;
  }

  redactKey(redactKey: unknown): unknown {
    return typeof redactKey === 'string' ? this.#rules.text(redactKey) : redactKey;
  }

  /** Lists and maps under a secret's name hold secrets; settings about signing in mostly do not. */
  hides(redactKey: unknown, hidden: boolean): boolean {
    if (typeof redactKey !== 'string') return hidden;
    const { isSecretName, text } = this.#rules;
    // A name that contained a secret is no longer meaningful without it.
    return (hidden && !isPublicName(redactKey)) || isSecretName(redactKey) || isSecretName(text(redactKey));
  }

  /** Not traversed: dates, bytes and the like. */
  isOpaque(value: object): boolean {
    return (
      value instanceof Date || value instanceof RegExp || value instanceof URL || ArrayBuffer.isView(value)
    );
  }

  redactOpaque(value: object): unknown {
    const { text, mark } = this.#rules;
    if (value instanceof URL) return text(value.href) === value.href ? value : text(value.href);
    if (!ArrayBuffer.isView(value)) return value;
    const bytes = new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
    const read = new TextDecoder('latin1').decode(bytes);
    return text(read) === read ? value : mark;
  }
}

/** A stack starts with the message, which is redacted on its own, because a secret may end where the message ends. */
export function redactStack(error: object, text: RedactionRules['text']): string | undefined {
  const [message, stack] = ['message', 'stack'].map((name) => read(error, name));
  if (typeof stack !== 'string') return undefined;
  return text(
    typeof message === 'string' && message !== '' ? stack.replace(message, () => text(message)) : stack,
  );
}

/** The value under it describes a secret, and is not one. */
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

interface CopyTarget {
  readonly target: object;
  readonly put: (key: unknown, value: unknown) => void;
}

export function emptyLike(value: object): CopyTarget {
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

const NON_ENUMERABLE = new Set(['message', 'stack', 'cause', 'name', 'errors']);

interface PropertyOptions {
  readonly part: unknown;
  readonly hidden: boolean;
  /** How often each name occurred: thousands may become the same. */
  readonly counts: Map<string, number>;
}

/** If two names become the same, both are kept. */
function define(target: object, name: string, { part, hidden, counts }: PropertyOptions): void {
  const unlisted = hidden && NON_ENUMERABLE.has(name);
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
