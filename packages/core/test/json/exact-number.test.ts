import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  compareNumbers,
  ExactNumber,
  withExactNumbers,
  withNumbersAsText,
  writeTransformed,
} from '../../src/json/exact-number.js';
import { parseLossless } from '../../src/json/lossless-json.js';
import { runToEnd } from '../../src/json/slices.js';
import { truncateValue } from '../../src/json/truncate-value.js';

const read = (text: string): Record<string, unknown> => parseLossless(text) as Record<string, unknown>;

describe('numbers that JavaScript cannot represent', () => {
  const text =
    '{"id":90071992547409931,"one":1.0,"huge":1e400,"deep":[{"fine":0.1000000000000000055}],"plain":7}';

  it('are shown with all their digits in a complete copy, at any position', () => {
    const value = read('{"a":[1,90071992547409931,{"b":90071992547409933}],"c":null}');
    const whole = runToEnd(withNumbersAsText(withExactNumbers(value)));
    expect(JSON.stringify(whole)).toBe('{"a":[1,"90071992547409931",{"b":"90071992547409933"}],"c":null}');
  });

  it('become ExactNumbers, and no other numbers do', () => {
    const value = read(text);
    const exact = withExactNumbers(value);
    expect(exact).toEqual({
      id: new ExactNumber('90071992547409931'),
      one: 1,
      huge: new ExactNumber('1e400'),
      deep: [{ fine: new ExactNumber('0.1000000000000000055') }],
      plain: 7,
    });
    expect(truncateValue(withExactNumbers(value), 1e6).value).toMatchObject({
      id: '90071992547409931',
      one: 1,
      huge: '1e400',
    });
    expect(value.id).toBe(90071992547409940);
  });

  it('cause no copy where there are none', () => {
    const value = read('{"one":1.0,"text":"90071992547409931"}');
    expect(withExactNumbers(value)).toBe(value);
    const own = { id: 90071992547409940 };
    expect(withExactNumbers(own)).toBe(own);
  });

  it('are written losslessly in a transformed value', () => {
    const hide = (value: unknown): unknown => ({ ...(value as object), one: '[redacted]' });
    expect(writeTransformed(read(text), hide).text).toBe(text.replace('1.0,', '"[redacted]",'));
    expect(writeTransformed({ a: 1 }, (value) => value).text).toBe('{"a":1}');
    expect(writeTransformed(undefined, (value) => value).text).toBeUndefined();
  });

  it.each([
    '"\ufdd312"',
    String.raw`"\ufdd35"`,
    String.raw`"\uFDD3-"`,
    String.raw`"\ufdd3e"`,
    String.raw`"\ufDd0\ufdef\ufdd31e5"`,
    String.raw`{"\ufdd35":"\ufdd35"}`,
  ])('cannot be faked by the text %j', (imitation) => {
    const whole = `{"id":90071992547409931,"n":1.0,"text":${imitation}}`;
    const shown = writeTransformed(read(whole), (value) => value).text ?? '';
    expect(JSON.parse(shown)).toEqual(JSON.parse(whole));
    expect(shown).toContain('"id":90071992547409931,"n":1.0,');
  });

  it('are recognized correctly among any texts', () => {
    // Characters of a marker, characters of a number, and characters that end both.
    const character = fc.oneof(
      fc.integer({ min: 0xfdd0, max: 0xfdef }).map((code) => String.fromCharCode(code)),
      fc.constantFrom(...'0123456789.-+eE"\\, '),
    );
    const text = fc.string({ unit: character, maxLength: 40 });
    fc.assert(
      fc.property(text, text, fc.boolean(), (key, value, isEscaped) => {
        const written = (json: string): string =>
          isEscaped
            ? json.replace(/[\ufdd0-\ufdef]/g, (one) => `\\u${one.charCodeAt(0).toString(16)}`)
            : json;
        const member = written(`${JSON.stringify(`k${key}`)}:${JSON.stringify(value)}`);
        const whole = `{"id":90071992547409931,${member},"n":1.0}`;
        const shown = writeTransformed(read(whole), (one) => one).text;
        expect(shown).toBe(
          `{"id":90071992547409931,${JSON.stringify(`k${key}`)}:${JSON.stringify(value)},"n":1.0}`,
        );
      }),
      { numRuns: 3_000, seed: 1 },
    );
  });
});

describe('compareNumbers', () => {
  it('agrees with JavaScript for doubles, and with BigInt for integers of any size', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true }), fc.double({ noNaN: true }), (left, right) => {
        expect(Math.sign(compareNumbers(String(left), String(right)))).toBe(
          left === right ? 0 : left < right ? -1 : 1,
        );
      }),
      { numRuns: 5_000, seed: 1 },
    );
    fc.assert(
      fc.property(fc.bigInt(), fc.bigInt(), fc.nat(5), (left, right, zeros) => {
        const written = `${left}.${'0'.repeat(zeros)}`;
        expect(Math.sign(compareNumbers(written, `${right}e0`))).toBe(
          left === right ? 0 : left < right ? -1 : 1,
        );
      }),
      { numRuns: 5_000, seed: 1 },
    );
  });

  it.each([
    ['1e400', '1e399', 1],
    ['1e400', 'Infinity', -1],
    ['-1e999999999', '1', -1],
    ['0.000', '-0', 0],
    ['1.50', '15e-1', 0],
  ])('%s and %s: %i', (left, right, expected) => {
    expect(Math.sign(compareNumbers(left, right))).toBe(expected);
  });

  it('is fast for a million digits', () => {
    const started = performance.now();
    const long = `1${'0'.repeat(1_000_000)}1`;
    expect(compareNumbers(long, long)).toBe(0);
    expect(performance.now() - started).toBeLessThan(1_000);
  });
});
