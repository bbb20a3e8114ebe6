import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  copyRawNumbers,
  exactInteger,
  parseLossless,
  parseWithRawNumbers,
  writeJson,
} from '../../src/json/lossless-json.js';
import { hasUniqueKeys, scanJson } from '../../src/json/scan-json.js';
import { partsByKey } from '../../src/json/text-parts.js';

type Fields = Record<string, unknown>;
const read = (text: string): Fields => parseLossless(text) as Fields;

const FOREIGN = ['1.0', '12345678901234567890', '-0', '-0.0', '1e5', '1E-7', '0.10', '0.0000001', '1e400'];
const OWN = ['0', '-1', '1.5', '123456789012345', '0.1', '1e+21', '1e-7', '9007199254740991', '-0.25'];

describe('scanJson', () => {
  it.each(FOREIGN)('recognizes %s as a number that JavaScript writes differently', (number) => {
    for (const text of [`[${number}]`, `{"a":${number}}`, `{"a" : [ 1 , ${number} ] }`])
      expect(scanJson(text)).toEqual({ hasNonCanonicalNumber: true });
  });

  it.each(OWN)('recognizes %s as a number in JavaScript notation', (number) => {
    expect(scanJson(`{"a":[${number},${number}]}`)).toEqual({ hasNonCanonicalNumber: false });
  });

  it('does not mistake text for numbers, or for keys', () => {
    expect(scanJson(String.raw`{"a":"1.0, \"b\": 2.0","b":["a","a","\\"],"c":{"a":1}}`)).toEqual({
      hasNonCanonicalNumber: false,
    });
  });

  it.each([
    ['at the top', '{"a":1,"b":2,"a":3}', 'a'],
    ['inside', '{"a":[{"b":{}},{"c":1,"c":1}]}', 'c'],
    ['in other notations', String.raw`{"name":1,"\u006eame":2}`, 'name'],
    ['after an escaped backslash', String.raw`{"a":"\\","a":1}`, 'a'],
    ['that are empty', '{"":1,"":2}', ''],
    ['named after the prototype', '{"__proto__":1,"__proto__":2}', '__proto__'],
  ])('finds duplicate keys %s', (_title, text, duplicateKey) => {
    expect(scanJson(text)).toMatchObject({ duplicateKey });
  });

  it('finds none in the output of JSON.stringify, and every part at its position', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom(0, 2), (value, space) => {
        const text = JSON.stringify(value, null, space);
        expect(scanJson(text)).toEqual({ hasNonCanonicalNumber: false });
        if (typeof value !== 'object' || value === null) return;
        const parts = [...partsByKey(text)].map(([key, part]) => [key, JSON.parse(part)]);
        expect(parts).toEqual(Object.entries(JSON.parse(text)));
      }),
    );
  });
});

describe('hasUniqueKeys', () => {
  const hasUniqueKeysIn = (text: string): boolean => hasUniqueKeys(text, JSON.parse(text));

  it('is sure of the output of JSON.stringify if no string looks like a key', () => {
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: fc.constantFrom('a', 'é', ',', ' ', '{') }), (value) => {
        for (const space of [0, 2]) expect(hasUniqueKeysIn(JSON.stringify(value, null, space))).toBe(true);
      }),
    );
    expect(hasUniqueKeysIn('{"a" : [{"b": 1}, {"b":\n2}], "c": "x: y"}')).toBe(true);
  });

  it.each([
    '{"a":1,"a":2}',
    '{"a":1,"a" \n:2}',
    String.raw`{"a":1,"\u0061":2}`,
    String.raw`{"a":"\":","a":1}`,
    '{"__proto__":1,"__proto__":1}',
    `${'['.repeat(500)}{"a":1,"a":1}${']'.repeat(500)}`,
  ])('is not sure of %.40s', (text) => {
    expect(hasUniqueKeysIn(text)).toBe(false);
    expect(() => parseLossless(text)).toThrow('Duplicate key');
  });

  it('leaves texts that only look like duplicates to the scan', () => {
    const text = String.raw`{"a":"say \"b\": 1","c":1}`;
    expect(hasUniqueKeysIn(text)).toBe(false);
    expect(parseLossless(text)).toEqual(JSON.parse(text));
    const deep = `${'['.repeat(500)}${']'.repeat(500)}`;
    expect(parseLossless(deep)).toBeDefined();
  });

  it('rejects nesting so deep that writing it again could fail', () => {
    const deep = (levels: number) => `{"a":${'['.repeat(levels)}${']'.repeat(levels)}}`;
    expect(parseLossless(deep(511))).toBeDefined();
    for (const levels of [512, 5_000, 500_000])
      expect(() => parseLossless(deep(levels))).toThrow(
        expect.objectContaining({ code: 'REQUEST_INVALID', message: expect.stringContaining('512') }),
      );
  });

  it('distinguishes integers of any size', () => {
    const { params } = read('{"id":9007199254740993,"params":{"t":-18446744073709551617,"u":1.0,"v":5}}');
    const holder = params as Fields;
    expect(exactInteger(holder, 't')).toBe(-18446744073709551617n);
    for (const key of ['u', 'v', 'w', 'constructor']) expect(exactInteger(holder, key)).toBeUndefined();
  });
});

describe('a value that is passed on', () => {
  it('is written losslessly, on one line', () => {
    const text = '{ "id": 9007199254740993,\r\n "list": [1.0, {"x": 1E-7}], "s": "\\u00e9" }';
    expect(writeJson(read(text))).toBe(text.replace(/[\r\n]/g, ' '));
    expect(writeJson(parseWithRawNumbers(text) as Fields)).toBe(text.replace(/[\r\n]/g, ' '));
  });

  it('keeps the raw numbers of its parts inside other messages', () => {
    const { params } = read(
      '{"id":1,"params":{"arguments":{"id":9007199254740993},"_meta":{"a":1.0,"b":2.0}}}',
    );
    const { arguments: args, _meta } = params as { arguments: Fields; _meta: Fields };
    const { a: _, ...rest } = _meta;
    const message = {
      id: 2,
      params: { name: 'x', arguments: args, _meta: copyRawNumbers(_meta, { ...rest, c: 3 }) },
    };
    expect(writeJson(message)).toBe(
      '{"id":2,"params":{"name":"x","arguments":{"id":9007199254740993},"_meta":{"b":2.0,"c":3}}}',
    );
  });

  it('keeps the raw numbers of calls in a list', () => {
    const { calls } = read('{"calls":[{"arguments":{"id":1.0}},{"arguments":{"id":2.0}}]}') as {
      calls: Fields[];
    };
    expect(calls.map((call) => writeJson({ params: call }))).toEqual([
      '{"params":{"arguments":{"id":1.0}}}',
      '{"params":{"arguments":{"id":2.0}}}',
    ]);
  });

  it('has the new values where something was changed', () => {
    const result = read('{"a":1.0,"b":{"c":2.0}}');
    expect(writeJson(copyRawNumbers(result, { ...result, a: 7, d: undefined, e: [1] }))).toBe(
      '{"a":7,"b":{"c":2.0},"e":[1]}',
    );
  });

  it('has the same content after writing, for any value', () => {
    const value = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 4 },
        fc.constantFrom(...FOREIGN, ...OWN),
        fc.string().map((text) => JSON.stringify(text)),
        fc.array(tie('value'), { maxLength: 4 }).map((list) => `[${list.join(' , ')}]`),
        fc
          .uniqueArray(fc.tuple(fc.string(), tie('value')), { maxLength: 4, selector: ([key]) => key })
          .map((all) => `{${all.map(([key, part]) => `${JSON.stringify(key)}:${part}`).join(',\n')}}`),
      ),
    })).value;
    fc.assert(
      fc.property(fc.uniqueArray(fc.tuple(fc.string(), value), { selector: ([key]) => key }), (all) => {
        const text = `{${all.map(([key, part]) => `${JSON.stringify(key)}:${part}`).join(',')}}`;
        const parsed = read(text);
        const copy = copyRawNumbers(parsed, { ...parsed, more: true });
        expect(JSON.parse(writeJson(copy))).toEqual({ ...JSON.parse(text), more: true });
        for (const number of FOREIGN)
          if (text.includes(`:${number}`)) expect(writeJson(parsed)).toContain(number);
      }),
    );
  });

  it('is not trusted where two parsers could read different values', () => {
    const text = '{"result":{"a":1.0,"a":2.0}}';
    expect(writeJson(parseWithRawNumbers(text) as Fields)).toBe('{"result":{"a":2}}');
    expect(() => parseLossless(text)).toThrow(expect.objectContaining({ code: 'REQUEST_INVALID' }));
  });
});
