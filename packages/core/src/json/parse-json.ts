/**
 * `JSON.parse` that returns every key as it was written. V8 12.8 and newer (Node 24 and 26 among others) reads an
 * escaped key as a different one that ends in a backslash, once an object with that other key was parsed anywhere in
 * the process: a server could change the keys of other servers' messages. nodejs/node#63785
 */
export const parseJson: (text: string) => unknown = hasEscapedKeyBug() ? parseAroundKeyBug : JSON.parse;

function hasEscapedKeyBug(): boolean {
  JSON.parse('{"turnbuckle":0,"\\\\":0}');
  return JSON.stringify(JSON.parse('{"turnbuckle":0,"\\"":0}')) !== '{"turnbuckle":0,"\\"":0}';
}

/** Only a text with an escape inside a key takes the slower parser. */
export function parseAroundKeyBug(text: string): unknown {
  return hasEscapedKey(text) ? new JsonReader(text).document() : JSON.parse(text);
}

/** From each escape to the end of its string, and whether a colon follows. Text in values costs one pass. */
function hasEscapedKey(text: string): boolean {
  let at = text.indexOf('\\');
  while (at !== -1) {
    let after = endOfString(text, at);
    while (isSpace(text.charCodeAt(after))) after += 1;
    if (text[after] === ':') return true;
    at = text.indexOf('\\', after);
  }
  return false;
}

/** The position after the string's closing quote, from a position inside it. */
function endOfString(text: string, inside: number): number {
  let at = inside;
  while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return at + 1;
}

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;
}

const LITERAL = /true|false|null|-?\d[\d.eE+-]*/y;

/** A strict parser: strings and literals go through `JSON.parse` one by one, which cannot confuse keys. */
class JsonReader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  document(): unknown {
    const value = this.#value();
    if (this.#next() !== '') this.#fail();
    return value;
  }

  #value(): unknown {
    const first = this.#next();
    if (first === '{') return this.#object();
    if (first === '[') return this.#array();
    return JSON.parse(first === '"' ? this.#string() : this.#literal());
  }

  #object(): object {
    const object = {};
    for (let open = this.#open('}'); open; open = this.#hasNext('}')) {
      if (this.#next() !== '"') this.#fail();
      const key: string = JSON.parse(this.#string());
      if (this.#next() !== ':') this.#fail();
      this.#at += 1;
      // Defined, not assigned: `__proto__` is a key like any other.
      Object.defineProperty(object, key, {
        value: this.#value(),
        enumerable: true,
        configurable: true,
        writable: true,
      });
    }
    return object;
  }

  #array(): unknown[] {
    const array: unknown[] = [];
    for (let open = this.#open(']'); open; open = this.#hasNext(']')) array.push(this.#value());
    return array;
  }

  /** Skips the opening bracket; false if the closing one follows immediately. */
  #open(close: string): boolean {
    this.#at += 1;
    if (this.#next() !== close) return true;
    this.#at += 1;
    return false;
  }

  #hasNext(close: string): boolean {
    const found = this.#next();
    if (found !== ',' && found !== close) this.#fail();
    this.#at += 1;
    return found === ',';
  }

  /** The next character that is not white space; empty at the end. */
  #next(): string {
    while (isSpace(this.#text.charCodeAt(this.#at))) this.#at += 1;
    return this.#text.charAt(this.#at);
  }

  #string(): string {
    const start = this.#at;
    this.#at = endOfString(this.#text, start + 1);
    return this.#text.slice(start, this.#at);
  }

  #literal(): string {
    LITERAL.lastIndex = this.#at;
    const literal = LITERAL.exec(this.#text)?.[0] ?? this.#fail();
    this.#at += literal.length;
    return literal;
  }

  #fail(): never {
    throw new SyntaxError(`Unexpected text in JSON at position ${this.#at}`);
  }
}
