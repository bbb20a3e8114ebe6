import fc from 'fast-check';
import { expect, it } from 'vitest';
import { CALL_COLUMN_LIST, CALL_COLUMNS, type CallRecord } from '../src/call-record.js';
import { parseEntry, toLine } from '../src/journal-entry.js';
import { record } from './record.js';

/** A value in every column. */
const WHOLE = Object.fromEntries(
  CALL_COLUMN_LIST.map(({ name, type, values }) => [
    name,
    type === 'text' ? (values?.[0] ?? `${name} "1" späť\n\u2028\ud800`) : 1.5,
  ]),
) as CallRecord;

it('a record is the same after its line is read again, whatever is in it', () => {
  expect(parseEntry(toLine(WHOLE))).toEqual({ kind: 'call', call: WHOLE });
  expect(Object.keys(JSON.parse(toLine(WHOLE))).sort()).toEqual(Object.keys(WHOLE).sort());
  fc.assert(
    fc.property(
      fc.string({ unit: 'binary' }),
      fc.double({ noNaN: true, min: -Number.MAX_SAFE_INTEGER, max: Number.MAX_SAFE_INTEGER }),
      (text, number) => {
        const call = record(2, { tool: text, arguments: text, error: text, durationMs: number + 0 });
        expect(toLine(call)).not.toContain('\n');
        expect(parseEntry(toLine(call))).toEqual({ kind: 'call', call });
      },
    ),
  );
});

it('an invalid duration still makes a line that can be read', () => {
  expect(JSON.parse(toLine(record(1, { durationMs: Number.NaN })))).toMatchObject({ durationMs: null });
});

it('a number that could not be read from the database again makes a line invalid, whatever the column', () => {
  for (const { name, type } of CALL_COLUMN_LIST) {
    if (type === 'text') continue;
    for (const number of [2 ** 53, -(2 ** 53), 1e300, ...(type === 'time' ? [8.7e15] : [])])
      expect(parseEntry(toLine({ ...WHOLE, [name]: number }))).toBeUndefined();
  }
});

it('a line holds the columns of the table only, in any order of the record', () => {
  const reversed = Object.fromEntries(Object.entries(WHOLE).reverse()) as CallRecord;
  for (const call of [WHOLE, reversed, { ...record(3), other: 'x' }, WHOLE])
    expect(JSON.parse(toLine(call))).toEqual(
      Object.fromEntries(Object.entries(call).filter(([name]) => name in CALL_COLUMNS)),
    );
});

it('a line of the previous release is read with the current names', () => {
  const { run, ...rest } = WHOLE;
  const former = JSON.stringify({ ...rest, conversation: run });
  expect(parseEntry(former)).toEqual({ kind: 'call', call: WHOLE });
  expect(parseEntry(JSON.stringify({ ...rest, conversation: 5 }))).toBeUndefined();
});
