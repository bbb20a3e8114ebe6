import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LineFraming } from '../../../src/connection/transports/line-framing.js';

const RUNS = { numRuns: 10_000 };
const MAX = 40;

interface Seen {
  readonly lines: string[];
  readonly oversized: number[];
}

function cut(bytes: Buffer, at: readonly number[]): Buffer[] {
  const edges = [
    0,
    ...[...at].sort((left, right) => left - right).filter((edge) => edge <= bytes.length),
    bytes.length,
  ];
  return edges.slice(1).map((end, index) => bytes.subarray(edges[index], end));
}

function frame(chunks: readonly Buffer[], maxBytes = MAX): Seen {
  const seen: Seen = { lines: [], oversized: [] };
  const framing = new LineFraming(
    { onLine: (line) => seen.lines.push(line), onOversized: (_edges, bytes) => seen.oversized.push(bytes) },
    maxBytes,
  );
  for (const chunk of chunks) framing.push(chunk);
  return seen;
}

const line = fc
  .oneof(
    fc.string({ unit: 'binary', maxLength: 30 }),
    fc.json({ maxDepth: 1 }),
    fc.constant('ż🦀\u2028é'),
    fc.string({ minLength: MAX + 1, maxLength: 3 * MAX }),
  )
  .map((text) => text.replaceAll(/[\r\n]/g, ''))
  // Unpaired surrogates cannot be encoded as UTF-8.
  .map((text) => Buffer.from(text).toString());
const lines = fc.array(fc.tuple(line, fc.constantFrom('\n', '\r\n')), { maxLength: 8 });
const cuts = fc.array(fc.nat(400), { maxLength: 40 });

describe('LineFraming', () => {
  it('gives the same lines for all chunk boundaries', () => {
    fc.assert(
      fc.property(lines, cuts, (written, at) => {
        const bytes = Buffer.from(written.map(([text, end]) => text + end).join(''));
        const expected: Seen = { lines: [], oversized: [] };
        for (const [text, end] of written) {
          const size = Buffer.byteLength(text) + end.length - 1;
          if (size > MAX) expected.oversized.push(size);
          else if (text !== '') expected.lines.push(text);
        }
        expect(frame(cut(bytes, at))).toEqual(expected);
        expect(frame([bytes])).toEqual(expected);
      }),
      RUNS,
    );
  });

  it('gives the same lines byte by byte', () => {
    fc.assert(
      fc.property(lines, (written) => {
        const bytes = Buffer.from(written.map(([text, end]) => text + end).join(''));
        expect(frame([...bytes].map((byte) => Buffer.of(byte)))).toEqual(frame([bytes]));
      }),
      RUNS,
    );
  });

  it('reports both ends of a line that is too long', () => {
    fc.assert(
      fc.property(fc.nat(5_000), cuts, (length, at) => {
        const text = `HEAD${'x'.repeat(length + MAX)}TAIL`;
        let edges = '';
        const framing = new LineFraming(
          { onLine: () => expect.fail('it is too long'), onOversized: (shown) => (edges = shown) },
          MAX,
        );
        for (const chunk of cut(Buffer.from(`${text}\n`), at)) framing.push(chunk);
        expect(edges.startsWith('HEAD')).toBe(true);
        expect(edges.endsWith('TAIL')).toBe(true);
        expect(edges.length).toBeLessThan(2_100);
      }),
      RUNS,
    );
  });
});
