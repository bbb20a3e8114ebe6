import { temporaryDirectory } from '@turnbuckle/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openDatabase } from '../src/database.js';
import { InvocationLog, LogReader } from '../src/index.js';
import { migrate, shapeOf } from '../src/migrations.js';
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
  it('is brought up to date with all that is in it', async () => {
    const { path, file } = await start();
    await createFirstShape(file);
    const log = new InvocationLog({ directory: path });
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
    expect(shapeOf(database)).toBe(1);
    database.close();
  });
});

describe('a log of a newer release', () => {
  it('is refused, and left as it is', async () => {
    const { path, file } = await start();
    const database = await openDatabase(file);
    database.exec('PRAGMA user_version = 99');
    database.close();
    const log = new InvocationLog({ directory: path });
    await expect(log.find()).rejects.toThrow(/newer Turnbuckle/);
    expect(log.append(record(1))).toBe(true);
    await expect(LogReader.open(path)).rejects.toThrow(/newer Turnbuckle/);
  });
});
