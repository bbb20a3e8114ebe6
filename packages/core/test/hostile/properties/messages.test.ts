import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ReadMessage, readText, readValue } from '../../../src/connection/protocol/message.js';

const RUNS = { numRuns: 10_000, seed: 9 };
const RULES = { server: 'odd', maxDepth: 200 };
const id = fc.oneof(fc.integer(), fc.string());
const message = fc.oneof(
  fc.record({ jsonrpc: fc.constant('2.0'), id, result: fc.dictionary(fc.string(), fc.jsonValue()) }),
  fc.record({
    jsonrpc: fc.constant('2.0'),
    method: fc.string(),
    params: fc.dictionary(fc.string(), fc.jsonValue()),
  }),
);

/** Parts of untrusted messages: valid, invalid, missing, and named like object members. */
const names = fc.constantFrom('constructor', '__proto__', 'toString', 'hasOwnProperty', 'x', 'tools/list');
const anything = fc.oneof(fc.jsonValue(), fc.constantFrom(null, 0, '', [], {}), names);
const near = fc.record(
  {
    jsonrpc: fc.oneof({ weight: 9, arbitrary: fc.constant('2.0') }, anything),
    id: fc.oneof(id, anything),
    method: fc.oneof(names, anything),
    params: fc.oneof(fc.dictionary(names, anything), anything),
    result: fc.oneof(fc.dictionary(names, anything), anything),
    error: fc.oneof(fc.record({ code: anything, message: anything, data: anything }), anything),
    __proto__: anything,
  },
  { requiredKeys: [] },
);

const isRecord = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The guarantees that other code relies on. */
function expectSound(read: ReadMessage): void {
  if (typeof read === 'string')
    return void expect(['noise', 'malformed', 'too-deep', 'unasked']).toContain(read);
  expect(read.jsonrpc).toBe('2.0');
  if ('id' in read) expect(['string', 'number']).toContain(typeof read.id);
  if ('method' in read) {
    expect(typeof read.method).toBe('string');
    if ('params' in read) expect(isRecord(read.params)).toBe(true);
  } else if ('error' in read) {
    expect(Number.isInteger(read.error.code)).toBe(true);
    expect(typeof read.error.message).toBe('string');
  } else expect('result' in read && isRecord(read.result)).toBe(true);
}

describe('readText', () => {
  it('returns every message exactly', () => {
    fc.assert(
      fc.property(message, fc.constantFrom('', ' ', '\t', '\ufeff'), (written, before) => {
        const text = JSON.stringify(written);
        expect(JSON.stringify(readText(before + text, RULES))).toBe(text);
      }),
      RUNS,
    );
  });

  it('accepts nothing else as a message, and never throws', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: 'binary' }), fc.json()), (text) => {
        const read = readText(text, RULES);
        for (const one of Array.isArray(read) ? read : [read]) expectSound(one);
      }),
      RUNS,
    );
  });

  it('accepts no prefix of a message', () => {
    fc.assert(
      fc.property(message, fc.double({ min: 0, max: 0.999, noNaN: true }), (written, share) => {
        const text = JSON.stringify(written);
        expect(readText(text.slice(0, Math.floor(text.length * share)), RULES)).toBe('noise');
      }),
      RUNS,
    );
  });

  it('accepts only messages of the right shape, as text, as a value and in a batch', () => {
    fc.assert(
      fc.property(near, near, (one, other) => {
        const alone = readText(JSON.stringify(one), RULES);
        expect(Array.isArray(alone)).toBe(false);
        expectSound(alone as ReadMessage);
        expectSound(readValue(one, RULES));
        const batch = readText(JSON.stringify([one, other]), RULES);
        expect(Array.isArray(batch) && batch.length).toBe(2);
        for (const each of Array.isArray(batch) ? batch : [batch]) expectSound(each);
      }),
      RUNS,
    );
  });
});

const DEEP = '['.repeat(5_000) + ']'.repeat(5_000);
const violation = (server: string) =>
  expect.objectContaining({ message: expect.stringContaining(`Server "${server}" sent a response`) });

describe('an invalid message', () => {
  it.each([
    ['{"jsonrpc":"2.0","id":5,"error":null}', { id: 5, error: violation('odd') }],
    ['{"jsonrpc":"2.0","id":5,"result":null}', { id: 5, error: violation('odd') }],
    ['{"jsonrpc":"2.0","id":5,"result":{"a":1},"error":null}', { id: 5, result: { a: 1 } }],
    ['{"jsonrpc":"2.0","id":5,"error":"no"}', { id: 5, error: violation('odd') }],
    ['{"jsonrpc":"2.0","id":5,"error":{"code":"1","message":"no"}}', { id: 5, error: violation('odd') }],
    [
      '{"jsonrpc":"2.0","id":5,"result":{"a":1},"error":{"code":1,"message":"no"}}',
      { id: 5, result: { a: 1 }, error: { code: 1, message: 'no' } },
    ],
    ['{"jsonrpc":"2.0","method":"x","params":null}', { method: 'x' }],
    ['{"jsonrpc":"2.0","id":null,"method":"x"}', { method: 'x' }],
    [`{"jsonrpc":"2.0","id":5,"result":{"a":${DEEP}}}`, { id: 5, error: violation('odd') }],
    [
      `{"jsonrpc":"2.0","id":5,"error":{"code":7,"message":"no","data":${DEEP}}}`,
      { id: 5, error: { code: 7, message: 'no' } },
    ],
  ])('%.60s is repaired or becomes an error', (text, meant) => {
    expect(readText(text, RULES)).toEqual({ jsonrpc: '2.0', ...meant });
  });

  it.each([
    ['{"jsonrpc":"2.0","method":"x","params":[1]}', 'malformed'],
    ['{"jsonrpc":"2.0","method":7}', 'malformed'],
    ['{"jsonrpc":"2.0","id":{},"method":"x"}', 'malformed'],
    ['{"jsonrpc":"1.0","id":5,"result":{}}', 'malformed'],
    ['{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"no"}}', 'unasked'],
    [`{"jsonrpc":"2.0","method":"x","params":{"a":${DEEP}}}`, 'too-deep'],
    ['[]', 'malformed'],
    ['{"level":"info"}', 'noise'],
    ['Listening on port 8080', 'noise'],
    [DEEP, 'too-deep'],
  ])('%.60s is ignored', (text, reason) => {
    const read = readText(text, RULES);
    expect(Array.isArray(read) ? read[0] : read).toBe(reason);
  });

  it('allows as many levels as the limit says, and not one more', () => {
    const nested = (levels: number) =>
      `{"jsonrpc":"2.0","id":5,"result":{"a":${'['.repeat(levels)}${']'.repeat(levels)}}}`;
    const pad = (text: string) => text.replace('{', `{${' '.repeat(1_000)}`);
    expect(readText(pad(nested(200)), RULES)).toHaveProperty('result');
    expect(readText(pad(nested(201)), RULES)).toHaveProperty('error');
    expect(readValue(JSON.parse(nested(200)), RULES)).toHaveProperty('result');
    expect(readValue(JSON.parse(nested(201)), RULES)).toHaveProperty('error');
  });
});
