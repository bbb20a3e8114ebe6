import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  encodeHeaderValue,
  headersFor,
  scanHeaderParameters,
} from '../../../src/connection/transports/http/mcp-headers.js';

const RUNS = { numRuns: 10_000 };

function decode(value: string): string {
  const encoded = /^=\?base64\?(.*)\?=$/.exec(value)?.[1];
  return encoded === undefined ? value : Buffer.from(encoded, 'base64').toString('utf8');
}

const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string(),
  fc.constantFrom('', ' ', ' a', 'a ', 'a\tb', 'a\r\nEvil: yes', '=?base64?eA==?=', '=?base64??=', '\u0000'),
);

describe('header values', () => {
  it('can be decoded again and contain no characters that are invalid in a header', () => {
    fc.assert(
      fc.property(text, (value) => {
        const encoded = encodeHeaderValue(value);
        expect(encoded).toMatch(/^[\x20-\x7e\t]*$/);
        expect(encoded).toBe(encoded.trim());
        expect(() => new Headers({ 'mcp-name': encoded })).not.toThrow();
        expect(decode(encoded)).toBe(Buffer.from(value).toString());
      }),
      RUNS,
    );
  });

  it('are made only of primitive arguments, under lower-case names', () => {
    const schema = {
      type: 'object',
      properties: {
        a: { type: 'string', 'x-mcp-header': 'A' },
        b: { type: 'object', properties: { c: { type: 'integer', 'x-mcp-header': 'B-C' } } },
      },
    };
    const scan = scanHeaderParameters(schema);
    const parameters = 'parameters' in scan ? scan.parameters : [];
    expect(parameters.map(({ header }) => header)).toEqual(['A', 'B-C']);
    fc.assert(
      fc.property(fc.record({ a: fc.anything(), b: fc.anything() }, { requiredKeys: [] }), (args) => {
        const headers = headersFor(parameters, args);
        expect(Object.keys(headers).every((name) => ['mcp-param-a', 'mcp-param-b-c'].includes(name))).toBe(
          true,
        );
        expect('mcp-param-a' in headers).toBe(
          typeof args.a === 'string' || typeof args.a === 'boolean' || Number.isSafeInteger(args.a),
        );
      }),
      RUNS,
    );
  });
});
