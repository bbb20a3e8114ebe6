import { CALL_COLUMN_LIST, type CallRecord, Journal, LogReader, type Row } from '@turnbuckle/store';
import { temporaryDirectory } from '@turnbuckle/testing';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import * as z from 'zod/mini';
import { LOGGED_CALL, toLoggedCall as toApiCall } from '../../../gateway/src/api/shapes/logged-call.js';
import { openDatabase } from '../../../store/src/database.js';
import { toLine } from '../../../store/src/journal-entry.js';
import { migrate } from '../../../store/src/migrations.js';
import { showLoggedCall } from '../../src/history/log-lines.js';
import { toLoggedCall } from '../../src/history/logged-call.js';
import { createOutput } from '../../src/terminal/output.js';

/** Columns without their own line: shown next to the outcome and the decision. */
const FOLDED: ReadonlySet<string> = new Set(['code', 'reason']);
const NAMES = CALL_COLUMN_LIST.map(({ name }) => name);

/** SQLite stores no lone surrogates, and ends a text at a NUL character. */
const text = fc.string({ unit: 'grapheme' }).map((value) => value.replaceAll('\0', ''));
const arbitraryOf = ({
  type,
  values,
  required,
}: (typeof CALL_COLUMN_LIST)[number]): fc.Arbitrary<unknown> => {
  const value: fc.Arbitrary<unknown> =
    values !== undefined
      ? fc.constantFrom(...values)
      : type === 'text'
        ? text
        : type === 'time'
          ? fc.integer({ min: 0, max: 4e12 })
          : fc
              .double({ noNaN: true, min: -Number.MAX_SAFE_INTEGER, max: Number.MAX_SAFE_INTEGER })
              .map((number) => number + 0);
  return required ? value : fc.option(value, { nil: undefined });
};
const records = fc.array(
  fc.record(Object.fromEntries(CALL_COLUMN_LIST.map((column) => [column.name, arbitraryOf(column)]))),
  { minLength: 20, maxLength: 40 },
) as unknown as fc.Arbitrary<CallRecord[]>;

/** The rows that a reader finds after these records were appended, the oldest first. */
async function rowsOf(calls: readonly CallRecord[]): Promise<readonly Row[]> {
  const home = await temporaryDirectory();
  try {
    const journal = new Journal({ directory: home.file('journal'), durability: 'process' });
    for (const call of calls) journal.append(toLine(call));
    journal.rotate();
    const reader = await LogReader.open(home.path);
    const rows = reader?.find({ limit: 1_000 }).reverse() ?? [];
    reader?.close();
    return rows;
  } finally {
    await home.remove();
  }
}

/** The expected fields of a record: times as ISO 8601, and `missing` for fields without a value. */
const shown = (call: CallRecord, missing: null | undefined): Record<string, unknown> =>
  Object.fromEntries(
    CALL_COLUMN_LIST.map(({ name, type }) => [
      name,
      call[name] === undefined
        ? missing
        : type === 'time'
          ? new Date(Number(call[name])).toISOString()
          : call[name],
    ]),
  );

const whole = Object.fromEntries(
  CALL_COLUMN_LIST.map(({ name, type, values, isContent }) => [
    name,
    type !== 'text' ? 2 : (values?.[0] ?? (isContent ? `{"in":"${name}"}` : `value-of-${name}`)),
  ]),
) as CallRecord;

describe('the record of a call', () => {
  it('is the same in the journal, the database, the API and the command line', async () => {
    await fc.assert(
      fc.asyncProperty(records, async (calls) => {
        const rows = await rowsOf(calls);
        expect(rows).toHaveLength(calls.length);
        for (const [index, call] of calls.entries()) {
          const row = rows[index] ?? {};
          const number = index + 1;
          expect(toApiCall(row)).toEqual({ number, ...shown(call, undefined) });
          expect(JSON.parse(JSON.stringify(toLoggedCall(row)))).toEqual({ number, ...shown(call, null) });
        }
      }),
      { numRuns: 5 },
    );
  });

  it('has the same columns in the database, the API and the command line', async () => {
    const database = await openDatabase(':memory:');
    onTestFinished(() => database.close());
    migrate(database);
    const columns = database.prepare('SELECT name FROM pragma_table_info(?)').all('invocations');
    const declared = CALL_COLUMN_LIST.map(({ column }) => column);
    expect(columns.map(({ name }) => name).sort()).toEqual([...declared, 'number', 'success'].sort());

    const { properties = {}, required = [] } = z.toJSONSchema(LOGGED_CALL);
    expect(Object.keys(properties)).toEqual(['number', ...NAMES]);
    for (const column of CALL_COLUMN_LIST) {
      expect(properties[column.name]).toMatchObject({ description: column.description });
      expect(required.includes(column.name)).toBe(column.required);
    }

    const [row = {}] = await rowsOf([whole]);
    expect(Object.keys(JSON.parse(toLine(whole))).sort()).toEqual([...NAMES].sort());
    expect(Object.keys(toLoggedCall(row))).toEqual(['number', ...NAMES]);
    const lines: string[] = [];
    const output = {
      ...createOutput({ json: false, environment: { NO_COLOR: '1' }, commands: [] }),
      line: (line = '') => void lines.push(line),
    };
    showLoggedCall(toLoggedCall(row), output);
    const printed = lines.join('\n');
    for (const { name, label, required: isRequired, isContent } of CALL_COLUMN_LIST) {
      if (isRequired) continue;
      expect(printed).toContain(isContent ? `"in": "${name}"` : String(whole[name]));
      if (!FOLDED.has(name)) expect(printed).toMatch(new RegExp(`^${label}\\b`, 'm'));
    }
  });
});
