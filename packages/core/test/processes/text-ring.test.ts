import fc from 'fast-check';
import { expect, it } from 'vitest';
import { TextRing } from '../../src/connection/processes/text-ring.js';

it('keeps the last bytes, however they arrive', () => {
  const chunks = fc.array(fc.string({ unit: 'binary-ascii', maxLength: 40 }), { maxLength: 60 });
  fc.assert(
    fc.property(chunks, fc.integer({ min: 1, max: 100 }), (texts, maxBytes) => {
      const ring = new TextRing(maxBytes);
      let expected = '';
      for (const text of texts) {
        ring.push(Buffer.from(text));
        expected = (expected + text).slice(-maxBytes);
        expect(ring.toString()).toBe(expected);
      }
    }),
  );
});
