import { statSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryDirectory } from '@turnbuckle/testing';
import { expect, it, onTestFinished } from 'vitest';
import { openDatabase } from '../src/database.js';
import { CallLog, type Retention } from '../src/index.js';
import { retain } from '../src/retention.js';
import { record, TIME } from './record.js';

async function filled(count: number, toStartedAt: (number: number) => number): Promise<string> {
  const home = await temporaryDirectory();
  onTestFinished(home.remove);
  const log = new CallLog({ directory: home.path, retention: { maxAgeMs: Number.MAX_SAFE_INTEGER } });
  for (let number = 0; number < count; number += 1)
    log.append(
      record(number, { startedAt: toStartedAt(number), result: JSON.stringify('word '.repeat(200)) }),
    );
  await log.flush();
  await log.close();
  return home.path;
}

/** How many rows remain, and how many the search index finds. */
async function retained(
  directory: string,
  retention: Retention,
  now: number,
): Promise<{ rows: number; found: number }> {
  const database = await openDatabase(join(directory, 'log.db'));
  while (retain(database, retention, now));
  const count = (sql: string): number => Number(database.prepare(sql).all()[0]?.count);
  const rows = count('SELECT count(*) AS count FROM invocations');
  const found = count(`SELECT count(*) AS count FROM invocations_text WHERE invocations_text MATCH 'issue'`);
  database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  database.close();
  return { rows, found };
}

// requirement D5
it('deletes records that are too old, also from the search index', async () => {
  const directory = await filled(1_500, (number) => TIME - number * 1_000);
  const { rows, found } = await retained(directory, { maxAgeMs: 100_000, maxBytes: 1e9 }, TIME);
  expect(rows).toBe(101);
  expect(found).toBe(101);
});

it('deletes the oldest records when the file is too large, and frees the space', async () => {
  const directory = await filled(6_000, (number) => TIME + number);
  const file = join(directory, 'log.db');
  const before = statSync(file).size;
  const maxBytes = Math.round(before / 3);
  const { rows, found } = await retained(directory, { maxAgeMs: 1e12, maxBytes }, TIME);
  expect(rows).toBeGreaterThan(500);
  expect(rows).toBeLessThan(4_000);
  expect(found).toBe(rows);
  expect(statSync(file).size).toBeLessThanOrEqual(maxBytes * 1.1);
  const log = new CallLog({ directory });
  expect((await log.find({ limit: 1 }))[0]?.id).toBe('call-5999');
  await log.close();
});

it('the log deletes old records itself', async () => {
  const directory = await filled(10, (number) => (number < 5 ? 1_000 : Date.now()));
  const log = new CallLog({ directory, retention: { maxAgeMs: 3_600_000 } });
  await log.flush();
  expect(await log.find()).toHaveLength(5);
  await log.close();
});
