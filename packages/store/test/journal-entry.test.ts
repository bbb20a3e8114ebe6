import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type Invocation, parseEntry, toLine } from '../src/invocation.js';
import { record } from './record.js';

const WHOLE: Required<Invocation> = {
  ...(record(1) as Required<Invocation>),
  conversation: 'run "1"',
  code: 'CALL_TIMEOUT',
  error: 'späť\n\u2028\ud800',
  decision: 'ask',
  reason: 'a rule',
  approval: 'once by me',
  alsoSent: '{"_meta":{}}',
  era: 'modern',
  energy: 1.5,
};

it('a record is the same after its line is read again, whatever is in it', () => {
  expect(parseEntry(toLine(WHOLE))).toEqual({ kind: 'call', call: WHOLE });
  expect(Object.keys(JSON.parse(toLine(WHOLE))).sort()).toEqual(Object.keys(WHOLE).sort());
  fc.assert(
    fc.property(
      fc.string({ unit: 'binary' }),
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      (text, number) => {
        const call = record(2, { tool: text, arguments: text, error: text, durationMs: number + 0 });
        expect(toLine(call)).not.toContain('\n');
        expect(parseEntry(toLine(call))).toEqual({ kind: 'call', call });
      },
    ),
  );
});

it('a time that is none makes no line that cannot be read', () => {
  expect(JSON.parse(toLine(record(1, { durationMs: Number.NaN })))).toMatchObject({ durationMs: null });
});
