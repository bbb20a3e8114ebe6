import { temporaryDirectory } from '@turnbuckle/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openDatabase } from '../src/database.js';
import { CallLog, Journal, LogReader, type Row } from '../src/index.js';
import { migrate, schemaVersion } from '../src/migrations.js';
import { record } from './record.js';

async function start(): Promise<{ path: string; file: string }> {
  const home = await temporaryDirectory();
  onTestFinished(home.remove);
  return { path: home.path, file: home.file('log.db') };
}

/** A log as the first release left it, with one call. */
async function createFirstShape(file: string): Promise<void> {
  const database = await openDatabase(file);
  migrate(database, 1);
  database.exec(`
    INSERT INTO invocations (number, id, started_at, duration_ms, server, tool, tool_name, kind, arguments,
      arguments_bytes, result_bytes, success, outcome, attempts, reason, era, energy)
    VALUES (7, 'old', ${Date.now()}, 5, 'files', 'read', 'mcp__files__read', 'tool', '{"path":"/etc"}', 15, 0, 1,
      'ok', 1, 'why', 'legacy', 2.5);
    INSERT INTO invocations_text (rowid, server, tool, arguments) VALUES (7, 'files', 'read', '{"path":"/etc"}');
    INSERT INTO servers (name, config, enabled, added_at, calls) VALUES ('files', '{}', 1, 5, 1);
  `);
  database.close();
}

describe('a log of an earlier release', () => {
  it('is migrated with all its data', async () => {
    const { path, file } = await start();
    await createFirstShape(file);
    const log = new CallLog({ directory: path });
    log.append(record(1, { server: 'files', approval: 'once by approver', alsoSent: '{"a":1}' }));
    await log.flush();
    expect(await log.get('old')).toMatchObject({
      number: 7,
      server: 'files',
      arguments: '{"path":"/etc"}',
      reason: 'why',
      approval: null,
      also_sent: null,
      era: 'legacy',
      energy: 2.5,
    });
    expect(await log.get('call-1')).toMatchObject({
      number: 8,
      approval: 'once by approver',
      also_sent: '{"a":1}',
    });
    expect(await log.find({ text: 'etc' })).toHaveLength(1);
    expect(await log.servers()).toMatchObject([{ name: 'files', calls: 2 }]);
    await log.close();
  });

  it('can be read as it is', async () => {
    const { path, file } = await start();
    await createFirstShape(file);
    const reader = await LogReader.open(path);
    expect(reader?.find({ text: 'etc' })).toMatchObject([{ id: 'old' }]);
    expect(reader?.toolAnalytics()).toMatchObject([{ server: 'files', calls: 1 }]);
    reader?.close();
    const database = await openDatabase(file, { readOnly: true });
    expect(schemaVersion(database)).toBe(1);
    database.close();
  });
});

describe('a log of the previous release, which had conversations', () => {
  async function createPreviousShape(file: string): Promise<void> {
    const database = await openDatabase(file);
    migrate(database, 4);
    const insert = database.prepare(`
      INSERT INTO invocations (id, started_at, duration_ms, conversation, caller, server, tool, tool_name, kind, arguments,
        arguments_bytes, result_bytes, success, outcome, attempts, also_sent)
      VALUES (?, ?, 5, ?, 'agent', 'files', 'read', 'mcp__files__read', 'tool', '{"path":"/etc"}', 15, 0, 1, 'ok', 1, '{}')`);
    for (const [id, run] of [
      ['one', 'a'],
      ['two', 'b'],
      ['three', null],
    ] as const)
      insert.run(id, Date.now(), run);
    database.close();
  }
  const idsAndRuns = (rows: readonly Row[]): unknown[] => rows.map(({ id, run }) => [id, run]);
  const ROWS = [
    ['three', null],
    ['two', 'b'],
    ['one', 'a'],
  ];

  it('is migrated: each becomes a run', async () => {
    const { path, file } = await start();
    await createPreviousShape(file);
    const log = new CallLog({ directory: path });
    expect(idsAndRuns(await log.find())).toEqual(ROWS);
    expect(idsAndRuns(await log.find({ run: 'b' }))).toEqual([['two', 'b']]);
    log.append(record(1, { run: 'b' }));
    expect(idsAndRuns(await log.find({ run: 'b' }))).toEqual([
      ['call-1', 'b'],
      ['two', 'b'],
    ]);
    expect(Object.keys((await log.get('one')) ?? {})).not.toContain('conversation');
    await log.close();
  });

  it('can be read and searched as it is, under the current names', async () => {
    const { path, file } = await start();
    await createPreviousShape(file);
    const reader = await LogReader.open(path);
    expect(idsAndRuns(reader?.find() ?? [])).toEqual(ROWS);
    expect(idsAndRuns(reader?.find({ run: 'a', text: 'etc' }) ?? [])).toEqual([['one', 'a']]);
    expect(reader?.get('two')).toMatchObject({ run: 'b' });
    expect(reader?.toolAnalytics()).toMatchObject([{ server: 'files', calls: 3 }]);
    reader?.close();
    const database = await openDatabase(file, { readOnly: true });
    expect(schemaVersion(database)).toBe(4);
    database.close();
  });

  it('can have lines in its journal', async () => {
    const { path, file } = await start();
    await createPreviousShape(file);
    const journal = new Journal({ directory: `${path}/journal`, durability: 'process' });
    journal.append(JSON.stringify({ ...record(1), conversation: 'b' }));
    journal.rotate();
    const reader = await LogReader.open(path);
    expect(idsAndRuns(reader?.find({ run: 'b' }) ?? [])).toEqual([
      ['call-1', 'b'],
      ['two', 'b'],
    ]);
    reader?.close();
  });
});

describe('a log of a newer release', () => {
  it('is refused when it is read', async () => {
    const { path, file } = await start();
    const database = await openDatabase(file);
    database.exec('PRAGMA user_version = 99');
    database.close();
    const log = new CallLog({ directory: path });
    await expect(log.find()).rejects.toThrow(/newer version of Turnbuckle/);
    expect(log.append(record(1))).toBe(true);
    await expect(LogReader.open(path)).rejects.toThrow(/newer version of Turnbuckle/);
  });
});
