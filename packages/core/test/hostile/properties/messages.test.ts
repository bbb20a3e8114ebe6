import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseMessage } from '../../../src/connection/message.js';

const RUNS = { numRuns: 10_000 };
const id = fc.oneof(fc.integer(), fc.string());
const message = fc.oneof(
  fc.record({ jsonrpc: fc.constant('2.0'), id, result: fc.dictionary(fc.string(), fc.jsonValue()) }),
  fc.record({
    jsonrpc: fc.constant('2.0'),
    method: fc.string(),
    params: fc.dictionary(fc.string(), fc.jsonValue()),
  }),
);

describe('parseMessage', () => {
  it('brings back every message exactly', () => {
    fc.assert(
      fc.property(message, fc.constantFrom('', ' ', '\t', '\ufeff'), (written, before) => {
        const text = JSON.stringify(written);
        expect(JSON.stringify(parseMessage(before + text))).toBe(text);
      }),
      RUNS,
    );
  });

  it('takes nothing else for a message, and never throws', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: 'binary' }), fc.json()), (text) => {
        const parsed = parseMessage(text);
        if (parsed !== undefined) expect(parsed.jsonrpc).toBe('2.0');
      }),
      RUNS,
    );
  });

  it('takes no prefix of a message for one', () => {
    fc.assert(
      fc.property(message, fc.double({ min: 0, max: 0.999, noNaN: true }), (written, share) => {
        const text = JSON.stringify(written);
        expect(parseMessage(text.slice(0, Math.floor(text.length * share)))).toBeUndefined();
      }),
      RUNS,
    );
  });
});
