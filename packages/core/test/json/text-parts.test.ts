import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { withExactNumbers } from '../../src/json/exact-number.js';
import { parseLossless } from '../../src/json/lossless-json.js';
import { truncateJsonText } from '../../src/json/text-parts.js';
import { truncateValue } from '../../src/json/truncate-value.js';

describe('truncateJsonText', () => {
  it('returns valid JSON that begins like the text', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.nat(200), fc.constantFrom(0, 1), (value, length, space) => {
        const text = JSON.stringify({ value }, null, space);
        const head = truncateJsonText(text, length + 1);
        expect(() => JSON.parse(head === '' ? '{}' : head)).not.toThrow();
        expect(head.length).toBeLessThanOrEqual(Math.max(text.length, 0));
        const closing = /["}\]]*$/.exec(head)?.[0].length ?? 0;
        expect(text.startsWith(head.slice(0, head.length - closing))).toBe(true);
        if (text.length <= length) expect(head).toBe(text);
      }),
      { numRuns: 3_000, seed: 1 },
    );
  });

  it.each([
    ['{"a":[1,2,3456],"b":1}', 12, '{"a":[1,2]}'],
    ['{"a":"0123456789"}', 10, '{"a":"0123"}'],
    [String.raw`{"a":"01\u0041"}`, 12, '{"a":"01"}'],
    [String.raw`{"a":"01\\\\\\"}`, 11, String.raw`{"a":"01\\"}`],
    ['{"a long key":1}', 5, '{}'],
    ['{"a":1,"b":2}', 12, '{"a":1}'],
  ])('%s up to %i: %s', (text, length, expected) => {
    expect(truncateJsonText(text, length)).toBe(expected);
  });

  it('reads no more of the text than needed', () => {
    const text = `{"a":[${'1.0,'.repeat(1_000_000)}1]}`;
    const started = performance.now();
    for (let round = 0; round < 1_000; round += 1) truncateJsonText(text, 100);
    expect(performance.now() - started).toBeLessThan(1_000);
  });
});

describe('numbers with all their digits', () => {
  const number = fc.oneof(
    fc.constantFrom('90071992547409931', '-90071992547409931', '1e400', '0.1000000000000000055'),
    fc.constantFrom('1.0', '-0', '1e5', '7', '123456789012345'),
  );
  const { json } = fc.letrec<{ json: string }>((tie) => ({
    json: fc.oneof(
      { maxDepth: 4 },
      number,
      fc.string().map((text) => JSON.stringify(text)),
      fc.constantFrom('true', 'null'),
      fc.array(tie('json'), { maxLength: 4 }).map((items) => `[${items.join(', ')}]`),
      fc
        .uniqueArray(fc.tuple(fc.constantFrom('a', 'b', '__proto__', '0', '\n"'), tie('json')), {
          selector: ([key]) => key,
          maxLength: 4,
        })
        .map((members) => `{${members.map(([key, part]) => `${JSON.stringify(key)} : ${part}`).join(',')}}`),
    ),
  }));

  it('are at their place, and everything else is unchanged', () => {
    fc.assert(
      fc.property(json, (part) => {
        const text = `{"it":${part},"other":1.0}`;
        const value = parseLossless(text) as object;
        const marked = text.replace(
          /("(?:[^"\\]|\\.)*")|-?90071992547409931|1e400|0\.1000000000000000055/g,
          (found, string) => string ?? `"${found}"`,
        );
        expect(truncateValue(withExactNumbers(value), 1e6).value).toEqual(JSON.parse(marked));
        expect(JSON.stringify(truncateValue(withExactNumbers(value), 1e6).value)).toBe(
          JSON.stringify(JSON.parse(marked)),
        );
        if (JSON.stringify(JSON.parse(marked)) === JSON.stringify(value))
          expect(withExactNumbers(value)).toBe(value);
      }),
      { numRuns: 3_000, seed: 1 },
    );
  });
});
