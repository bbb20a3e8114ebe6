/** Replaces some numbers of a value, selected by their text: in steps, because texts are long. */
import { endOfNumber, endOfString, isClosingBracket, readKey } from './scan-json.js';
import type { Steps } from './slices.js';

const QUOTE = 0x22;
const COMMA = 0x2c;
const MINUS = 0x2d;
const ZERO = 0x30;
const NINE = 0x39;
const OPEN_LIST = 0x5b;
const OPEN_OBJECT = 0x7b;
const CHARACTERS_PER_STEP = 4_096;
const MEMBER = { enumerable: true, configurable: true, writable: true } as const;

export interface NumberReplacement {
  /** Selects numbers by their text. */
  readonly matches: (text: string) => boolean;
  readonly replace: (text: string) => unknown;
}

/** An array or object that is being processed. */
class Container {
  readonly from: object;
  /** Created only if something in it changes. */
  copy: object | undefined;
  key: string | number;

  constructor(from: object, isList: boolean) {
    this.from = from;
    this.key = isList ? 0 : '';
  }

  put(part: unknown): void {
    this.copy ??= Array.isArray(this.from) ? this.from.slice() : { ...this.from };
    // Defined, not assigned: `__proto__` is a key like any other.
    if (this.key === '__proto__') Object.defineProperty(this.copy, this.key, { ...MEMBER, value: part });
    else Reflect.set(this.copy, this.key, part);
  }
}

/** Returns the same value if there is no such number. The text is that of the value, without duplicate keys. */
export function* replaceInValue<Value extends object>(
  value: Value,
  text: string,
  { matches, replace }: NumberReplacement,
): Steps<Value> {
  const levels: Container[] = [];
  let top: Container | undefined;
  let isKeyNext = false;
  for (let at = 0, left = CHARACTERS_PER_STEP; at < text.length; at += 1, left -= 1) {
    if (left <= 0) {
      left = CHARACTERS_PER_STEP;
      yield;
    }
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      const end = endOfString(text, at);
      if (isKeyNext && top !== undefined) top.key = readKey(text, at, end);
      isKeyNext = false;
      at = end - 1;
    } else if (code === COMMA && top !== undefined) {
      if (typeof top.key === 'number') top.key += 1;
      else isKeyNext = true;
    } else if (code === OPEN_OBJECT || code === OPEN_LIST) {
      const from: unknown = top === undefined ? value : Reflect.get(top.from, top.key);
      if (typeof from !== 'object' || from === null) return value;
      top = new Container(from, code === OPEN_LIST);
      levels.push(top);
      isKeyNext = code === OPEN_OBJECT;
    } else if (isClosingBracket(code)) {
      const copy = levels.pop()?.copy;
      top = levels[levels.length - 1];
      isKeyNext = false;
      // It is a copy of the value, with the same members.
      if (top === undefined) return (copy ?? value) as Value;
      if (copy !== undefined) top.put(copy);
    } else if (code === MINUS || (code >= ZERO && code <= NINE)) {
      const end = endOfNumber(text, at);
      const digits = text.slice(at, end);
      if (matches(digits)) top?.put(replace(digits));
      at = end - 1;
    }
  }
  return value;
}
