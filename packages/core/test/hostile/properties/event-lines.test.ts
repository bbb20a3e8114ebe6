import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { EventLines } from '../../../src/connection/transports/http/event-lines.js';
import { EventReader, type StreamEvent } from '../../../src/connection/transports/http/event-reader.js';

const RUNS = { numRuns: 10_000 };

function cut(bytes: Buffer, at: readonly number[]): Buffer[] {
  const edges = [0, ...at.filter((edge) => edge <= bytes.length).sort((one, two) => one - two), bytes.length];
  return edges.slice(1).map((end, index) => bytes.subarray(edges[index], end));
}

type Seen = (StreamEvent | number)[];

function read(chunks: readonly Buffer[]): Seen {
  const seen: Seen = [];
  const lines = new EventLines();
  const reader = new EventReader({
    onEvent: (event) => seen.push(event),
    onRetry: (ms) => seen.push(ms),
  });
  for (const chunk of chunks) {
    const whole = lines.push(chunk);
    if (whole !== undefined) reader.read(whole);
  }
  return seen;
}

/** A literal implementation of the standard, but an id belongs only to its own event: code that resumes a stream stores it anyway. */
function readByStandard(text: string): Seen {
  const seen: Seen = [];
  const whole = (text.startsWith('\ufeff') ? text.slice(1) : text).split(/\r\n|\n|\r/).slice(0, -1);
  let data: string[] = [];
  let event: string | undefined;
  let id: string | undefined;
  for (const line of whole) {
    const [, field = line, value = ''] = /^([^:]*):[ ]?(.*)$/su.exec(line) ?? [];
    if (line === '') {
      if (data.length > 0) seen.push({ id, event, data: data.join('\n') });
      [data, event, id] = [[], undefined, undefined];
    } else if (field === 'data') data.push(value);
    else if (field === 'event') event = value === '' ? undefined : value;
    else if (field === 'id' && !value.includes('\0')) id = value;
    else if (field === 'retry' && /^\d+$/.test(value)) seen.push(Number(value));
  }
  return seen;
}

const word = fc.constantFrom('data', 'event', 'id', 'retry', 'date', 'dat', 'datax', '', ' data', 'x');
const value = fc.oneof(
  fc.constantFrom(
    '',
    ' ',
    '  a',
    ':',
    '1',
    '007',
    '1e3',
    '-1',
    'a\0b',
    '{"a": 1}',
    'ż🦀\u2028é\u0085',
    '\ufeff',
  ),
  fc.string({ unit: 'grapheme', maxLength: 8 }).map((text) => text.replaceAll(/[\r\n]/g, '')),
);
const line = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.tuple(word, fc.constantFrom(':', ': ', ''), value).map((parts) => parts.join('')),
  },
  { weight: 3, arbitrary: fc.constant('') },
);
const text = fc
  .tuple(
    fc.constantFrom('', '\ufeff'),
    fc.array(fc.tuple(line, fc.constantFrom('\n', '\r', '\r\n')), { maxLength: 24 }),
    fc.constantFrom('', 'data: cut'),
  )
  .map(([mark, lines, rest]) => mark + lines.flat().join('') + rest);
const cuts = fc.array(fc.nat(300), { maxLength: 60 });

describe('the events of a stream', () => {
  it('are those of the standard, however its lines end and its bytes are cut', () => {
    fc.assert(
      fc.property(text, cuts, (sent, at) => {
        const bytes = Buffer.from(sent);
        const expected = readByStandard(bytes.toString());
        expect(read([bytes])).toEqual(expected);
        expect(read(cut(bytes, at))).toEqual(expected);
        expect(read(Array.from(bytes, (byte) => Buffer.from([byte])))).toEqual(expected);
      }),
      RUNS,
    );
  });

  it('are measured from blank line to blank line, for all line endings', () => {
    fc.assert(
      fc.property(fc.constantFrom('\n', '\r', '\r\n'), cuts, fc.nat(40), (end, at, rest) => {
        const lines = new EventLines();
        const sent = Buffer.from(`data: one${end}${end}data: two${end}${end}${'x'.repeat(rest)}`);
        for (const chunk of cut(sent, at)) lines.push(chunk);
        expect(lines.length).toBe(rest);
      }),
    );
  });
});
