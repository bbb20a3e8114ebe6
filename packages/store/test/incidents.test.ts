import { join } from 'node:path';
import { temporaryDirectory } from '@turnbuckle/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openDatabase } from '../src/database.js';
import { CallLog, type IncidentRecord, Journal, LogReader, toShownIncident } from '../src/index.js';
import { migrate } from '../src/migrations.js';
import { retain } from '../src/retention.js';
import { record, TIME } from './record.js';

const incident = (more: Partial<IncidentRecord> = {}): IncidentRecord => ({
  at: TIME,
  level: 'error',
  kind: 'server-failed',
  server: 'github',
  code: 'CONNECT_FAILED',
  text: 'Cannot connect to server "github".',
  next: 'turnbuckle logs github',
  ...more,
});

async function start(): Promise<string> {
  const home = await temporaryDirectory();
  onTestFinished(home.remove);
  return home.path;
}

async function withLog<T>(directory: string, work: (log: CallLog) => Promise<T>): Promise<T> {
  const log = new CallLog({ directory });
  try {
    return await work(log);
  } finally {
    await log.close();
  }
}

describe('incidents in the log', () => {
  it('are found after a restart, newest first, and by a reader without a thread', async () => {
    const directory = await start();
    await withLog(directory, async (log) => {
      log.recordIncident(incident());
      log.append(record(1));
      log.recordIncident(
        incident({ level: 'info', kind: 'daemon-started', server: undefined, at: TIME + 5 }),
      );
    });
    const rows = await withLog(directory, (log) => log.incidents());
    expect(rows.map((row) => toShownIncident(row))).toEqual([
      {
        number: 2,
        at: new Date(TIME + 5).toISOString(),
        level: 'info',
        kind: 'daemon-started',
        code: 'CONNECT_FAILED',
        text: 'Cannot connect to server "github".',
        next: 'turnbuckle logs github',
      },
      { number: 1, ...incident(), at: new Date(TIME).toISOString() },
    ]);
    const reader = await LogReader.open(directory);
    onTestFinished(() => reader?.close());
    expect(reader?.incidents({ limit: 1 })).toMatchObject([{ number: 2 }]);
    expect(reader?.find()).toHaveLength(1);
  });

  it('are filtered by server, kind, level, time and place', async () => {
    const directory = await start();
    const numbers = await withLog(directory, async (log) => {
      log.recordIncident(incident());
      log.recordIncident(
        incident({ server: 'files\0', level: 'warn', kind: 'sign-in-needed', at: TIME + 1 }),
      );
      log.recordIncident(
        incident({ server: undefined, level: 'info', kind: 'config-reloaded', at: TIME + 2 }),
      );
      const find = async (filter: Parameters<CallLog['incidents']>[0]): Promise<unknown[]> =>
        (await log.incidents(filter)).map(({ number }) => number);
      return {
        server: await find({ server: 'files\0' }),
        kind: await find({ kind: 'config-reloaded' }),
        error: await find({ level: 'error' }),
        warn: await find({ level: 'warn' }),
        info: await find({ level: 'info' }),
        since: await find({ since: TIME + 1 }),
        until: await find({ until: TIME + 1 }),
        servers: await find({ servers: ['github', 'files\0'] }),
        none: await find({ servers: [] }),
        after: await find({ after: 1 }),
        before: await find({ before: 3, limit: 1 }),
      };
    });
    expect(numbers).toEqual({
      server: [2],
      kind: [3],
      error: [1],
      warn: [2, 1],
      info: [3, 2, 1],
      since: [3, 2],
      until: [1],
      servers: [2, 1],
      none: [],
      after: [2, 3],
      before: [2],
    });
  });

  it('are deleted when they are too old, or too many', async () => {
    const directory = await start();
    const DAY_MS = 24 * 3_600_000;
    await withLog(directory, async (log) => {
      log.recordIncident(incident({ at: TIME - 2 * DAY_MS }));
      log.recordIncident(incident());
    });
    const database = await openDatabase(join(directory, 'log.db'));
    onTestFinished(() => database.close());
    const count = (): number => Number(database.prepare('SELECT count(*) AS n FROM incidents').all()[0]?.n);
    while (retain(database, { maxAgeMs: DAY_MS, maxBytes: Number.MAX_SAFE_INTEGER }, TIME));
    expect(count()).toBe(1);
    database.exec(`
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 21000)
      INSERT INTO incidents (at, level, kind, text) SELECT ${TIME}, 'info', 'suppressed', 'x' FROM n`);
    while (retain(database, { maxAgeMs: DAY_MS, maxBytes: Number.MAX_SAFE_INTEGER }, TIME));
    expect(count()).toBe(20_000);
  });

  it('are none in a log of an earlier release that is only read', async () => {
    const directory = await start();
    const database = await openDatabase(join(directory, 'log.db'));
    migrate(database, 5);
    database.close();
    const reader = await LogReader.open(directory);
    onTestFinished(() => reader?.close());
    expect(reader?.incidents()).toEqual([]);
  });

  it('are left out when a line is no incident, or one of a newer release', async () => {
    const directory = await start();
    const journal = new Journal({ directory: join(directory, 'journal'), durability: 'process' });
    for (const wrong of [{ at: 'x' }, { text: 1 }, { server: 7 }, { at: 9e18 }, { level: undefined }])
      journal.append(JSON.stringify({ kind: 'incident', incident: { ...incident(), ...wrong } }));
    journal.append(JSON.stringify({ kind: 'incident', incident: { ...incident(), kind: 'of-tomorrow' } }));
    journal.append(JSON.stringify({ kind: 'incident', incident: { ...incident(), level: 'fatal' } }));
    journal.append(JSON.stringify({ kind: 'incident', incident: incident() }));
    journal.rotate();
    const [skipped, rows] = await withLog(directory, async (log) => [
      await log.flush(),
      await log.incidents(),
    ]);
    expect(skipped).toBe(5);
    expect(rows.flatMap((row) => toShownIncident(row) ?? [])).toMatchObject([{ kind: 'server-failed' }]);
  });
});
