import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toKeptJson } from '../../src/log/kept-json.js';

const redact = (value: unknown): unknown => value;

describe('what is kept of arguments and results', () => {
  it('is the JSON of it, when it fits', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
        const { text, bytes } = toKeptJson(value, { limit: 1_000_000, redact });
        expect(text).toBe(JSON.stringify(value));
        expect(bytes).toBeGreaterThan(0);
      }),
    );
  });

  it('is never longer than the limit, whatever it is of', () => {
    fc.assert(
      fc.property(fc.anything({ maxDepth: 6 }), fc.integer({ min: 0, max: 300 }), (value, limit) => {
        const { text = '' } = toKeptJson(value, { limit, redact });
        expect(text.length).toBeLessThanOrEqual(limit + 1);
      }),
    );
  });

  it('does not look at what is beyond it', () => {
    let looked = 0;
    const watch = (value: unknown): unknown => {
      looked = JSON.stringify(value).length;
      return value;
    };
    const value = { rows: Array.from({ length: 15_000 }, (_, id) => ({ id, text: 'a'.repeat(500) })) };
    const { text, bytes } = toKeptJson(value, { limit: 1_000, redact: watch });
    expect(text).toMatch(/^\{"rows":\[\{"id":0,"text":"a+.*…$/);
    expect(bytes).toBeGreaterThan(7_500_000);
    expect(looked).toBeLessThan(10_000);
  });

  it('says what was cut also when the rest would be JSON', () => {
    const { text = '' } = toKeptJson(['a'.repeat(9_000), 'b'], { limit: 4_000, redact: () => ['short'] });
    expect(text).toBe('["short"]…');
  });

  it.each([
    ['nothing', undefined],
    [
      'a ring',
      (() => {
        const ring: unknown[] = [];
        ring.push(ring);
        return ring;
      })(),
    ],
    [
      'what refuses to be read',
      {
        get trap() {
          throw new Error('no');
        },
      },
    ],
  ])('is nothing of %s', (_, value) => {
    expect(toKeptJson(value, { limit: 100, redact }).text).toBeUndefined();
  });
});
