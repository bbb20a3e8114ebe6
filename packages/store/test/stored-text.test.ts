import { temporaryDirectory } from '@turnbuckle/testing';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type Database, openDatabase } from '../src/database.js';
import { CallLog, type CallRecord, fromRow, Journal } from '../src/index.js';
import { Ingester } from '../src/ingest.js';
import { toLine } from '../src/journal-entry.js';
import { migrate } from '../src/migrations.js';
import { findCalls, getCall, listServers, loggedNames } from '../src/queries/call-queries.js';
import { record } from './record.js';

/** What SQLite cannot give back, between what it can. */
const anyText = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({
    unit: fc.constantFrom('\0', '\u0001', 'a', '\u2400', '\ud800', '\udc00', '"', '\\', '\ufffd'),
  }),
  fc.string({ unit: fc.integer({ min: 0, max: 0xff_ff }).map((unit) => String.fromCharCode(unit)) }),
);
const texts = fc.record({
  id: anyText,
  run: anyText,
  caller: anyText.filter((text) => text !== 'host' && text !== 'owner'),
  server: anyText,
  tool: anyText,
  toolName: anyText,
  code: anyText,
  error: anyText,
  decision: anyText,
  reason: anyText,
  approval: anyText,
  era: anyText,
  arguments: anyText,
  alsoSent: anyText,
  result: anyText,
});

const stored = (text: string): string => text.toWellFormed().replaceAll('\0', '\u2400');

async function openEmpty(): Promise<{ database: Database; ingest: (call: CallRecord) => void }> {
  const home = await temporaryDirectory();
  const database = await openDatabase(home.file('log.db'));
  migrate(database);
  const directory = home.file('journal');
  const journal = new Journal({ directory, durability: 'process' });
  const ingester = new Ingester(database, directory);
  onTestFinished(async () => {
    journal.rotate();
    database.close();
    await home.remove();
  });
  const ingest = (call: CallRecord): void => {
    journal.append(JSON.stringify({ kind: 'server', server: { ...SERVER, name: call.server } }));
    journal.append(toLine(call));
    ingester.ingestBatch();
  };
  return { database, ingest };
}
const SERVER = { config: '{}', enabled: true, at: 1, removed: false };

describe('a text in the log', () => {
  it('comes back whole and is found by what it was, whatever it is', async () => {
    const { database, ingest } = await openEmpty();
    const servers = new Set<string>();
    const names = new Set<string>();
    fc.assert(
      fc.property(texts, (given) => {
        const call = { ...record(1), ...given };
        ingest(call);
        const expected = Object.fromEntries(
          Object.entries(given).map(([name, text]) => [name, stored(text)] as const),
        );
        servers.add(stored(call.server));
        names.add(JSON.stringify([stored(call.server), stored(call.tool), 'tool']));
        const { id, server, tool, toolName, caller, run } = call;
        const visible = [{ server, tool, kind: 'tool', mustBeFound: false }];
        const rows = [
          getCall(database, id),
          ...[{}, { server }, { tool }, { tool: toolName }, { caller }, { run }, { visible }].map(
            (filter) => findCalls(database, filter)[0],
          ),
        ];
        for (const row of rows) expect(fromRow(row ?? {})).toMatchObject(expected);
      }),
      { numRuns: 300 },
    );
    const listed = loggedNames(database).map(({ server, tool, kind }) =>
      JSON.stringify([server, tool, kind]),
    );
    expect(new Set(listed)).toEqual(names);
    expect(listed).toHaveLength(names.size);
    expect(new Set(listServers(database).map(({ name }) => name))).toEqual(servers);
  });

  it('hides no name behind it, if an earlier release has stored it with a NUL', async () => {
    const { database, ingest } = await openEmpty();
    const tools = [
      ['one', 'a'],
      ['one', 'b'],
      ['one', 'c'],
      ['two', 'd'],
    ] as const;
    for (const [server, tool] of tools) ingest(record(1, { server, tool }));
    // SQLite stores a NUL, and not every driver reads beyond it.
    database.exec(`UPDATE invocations SET tool = 'a' || char(0) || 'b' WHERE tool = 'a'`);
    database.exec(`UPDATE invocations SET server = 'one' || char(0) || 'x' WHERE tool = 'b'`);
    expect(loggedNames(database).map(({ server, tool }) => [server, tool])).toEqual([
      ['one', 'c'],
      ['two', 'd'],
    ]);
  });

  it('hides no name of its server if it contains a NUL', async () => {
    const home = await temporaryDirectory();
    const log = new CallLog({ directory: home.path });
    onTestFinished(async () => {
      await log.close();
      await home.remove();
    });
    for (const tool of ['a\0b', 'a\0c', 'echo']) log.append(record(1, { server: 'demo', tool }));
    const names = await log.names();
    expect(names.map(({ tool }) => tool)).toEqual(['a\u2400b', 'a\u2400c', 'echo']);
    const visible = names
      .filter(({ tool }) => tool === 'echo')
      .map((name) => ({ ...name, mustBeFound: false }));
    expect((await log.find({ visible })).map(({ tool }) => tool)).toEqual(['echo']);
    expect((await log.find({ tool: 'a\0b' })).map(({ tool }) => tool)).toEqual(['a\u2400b']);
  });
});
