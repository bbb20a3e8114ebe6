import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { truncateJson } from '../../src/log/truncate-json.js';

const redact = (value: unknown): unknown => value;

describe('what is kept of arguments and results', () => {
  it('is their JSON if it fits', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
        const { text, bytes } = truncateJson(value, { limit: 1_000_000, redact });
        expect(text).toBe(JSON.stringify(value));
        expect(bytes).toBeGreaterThan(0);
      }),
    );
  });

  it('is never longer than the limit, whatever the value', () => {
    fc.assert(
      fc.property(fc.anything({ maxDepth: 6 }), fc.integer({ min: 0, max: 300 }), (value, limit) => {
        const { text = '' } = truncateJson(value, { limit, redact });
        expect(text.length).toBeLessThanOrEqual(limit + 1);
      }),
    );
  });

  it('does not include what is beyond the limit, which is not redacted either', () => {
    let looked = 0;
    const watch = (value: unknown): unknown => {
      looked = JSON.stringify(value).length;
      return value;
    };
    const value = { rows: Array.from({ length: 15_000 }, (_, id) => ({ id, text: 'a'.repeat(500) })) };
    const { text, bytes } = truncateJson(value, { limit: 1_000, redact: watch });
    expect(text).toMatch(/^\{"rows":\[\{"id":0,"text":"a+.*…$/);
    expect(bytes).toBeGreaterThan(7_500_000);
    expect(looked).toBeLessThan(10_000);
  });

  it('is marked as cut even if the rest is valid JSON', () => {
    const { text = '' } = truncateJson(['a'.repeat(9_000), 'b'], { limit: 4_000, redact: () => ['short'] });
    expect(text).toBe('["short"]…');
  });

  it.each([
    ['undefined', undefined],
    [
      'a cyclic value',
      (() => {
        const ring: unknown[] = [];
        ring.push(ring);
        return ring;
      })(),
    ],
    [
      'a getter that throws',
      {
        get trap() {
          throw new Error('no');
        },
      },
    ],
  ])('is undefined for %s', (_, value) => {
    expect(truncateJson(value, { limit: 100, redact }).text).toBeUndefined();
  });
});
