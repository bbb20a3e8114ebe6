import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseAroundKeyBug, parseJson } from '../../src/json/parse-json.js';

/** Keys with characters that must be escaped, and with the backslash that some engines confuse with them. */
const key = fc.string({ unit: fc.constantFrom('\\', '"', '\n', 'h', '\u0001', 'é'), maxLength: 3 });
const document = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.jsonValue(),
    fc.dictionary(key, tie('value'), { maxKeys: 3 }),
    fc.array(tie('value'), { maxLength: 3 }),
  ),
})).value;

describe('parseJson', () => {
  it('keeps an escaped key apart from one that ends in a backslash', () => {
    for (let round = 0; round < 100; round += 1) {
      for (const text of [
        String.raw`{"h":0,"\\":1}`,
        String.raw`{"h":0,"\"":1}`,
        String.raw`{"h":0,"\n":1}`,
      ]) {
        expect(JSON.stringify(parseJson(text))).toBe(text);
      }
    }
  });

  it.each([
    ['parseJson', parseJson],
    ['parseAroundKeyBug', parseAroundKeyBug],
  ])('returns every document exactly: %s', (_name, parse) => {
    fc.assert(
      fc.property(document, fc.constantFrom(undefined, 1, '\t'), (written, indent) => {
        const text = JSON.stringify(written, undefined, indent);
        expect(JSON.stringify(parse(text), undefined, indent)).toBe(text);
      }),
      { numRuns: 5_000 },
    );
  });

  it('accepts exactly what JSON.parse accepts', () => {
    const noise = fc.constantFrom(
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '"',
      '\\',
      ' ',
      '1',
      '-',
      '.',
      'true',
      '\n',
      '\u00a0',
    );
    const broken = fc
      .tuple(document, fc.nat(), fc.nat({ max: 3 }), noise)
      .map(([value, place, removed, added]) => {
        const text = JSON.stringify({ '\n': value });
        const at = place % (text.length + 1);
        return text.slice(0, at) + added + text.slice(at + removed);
      });
    fc.assert(
      fc.property(broken, (text) => {
        expect(accepts(parseAroundKeyBug, text)).toBe(accepts(JSON.parse, text));
      }),
      { numRuns: 10_000 },
    );
  });

  it('treats __proto__ like any other key', () => {
    const parsed = parseAroundKeyBug(String.raw`{"\n":1,"__proto__":{"polluted":true}}`);
    expect(Object.getPrototypeOf(parsed)).toBe(Object.prototype);
    expect(Object.keys(parsed as object)).toEqual(['\n', '__proto__']);
  });
});

function accepts(parse: (text: string) => unknown, text: string): boolean {
  try {
    parse(text);
    return true;
  } catch {
    return false;
  }
}
