import { mkdirSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryDirectory, waitUntil } from '@turnbuckle/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openDatabase } from '../src/database.js';
import { CallLog } from '../src/index.js';
import { record } from './record.js';

const HOUR_MS = 3_600_000;

async function start() {
  const home = await temporaryDirectory();
  const segment = join(home.path, 'journal', '000000000000001-1-deadbeef-0000.ndjson');
  const failures: string[] = [];
  mkdirSync(segment, { recursive: true });
  const log = new CallLog({
    directory: home.path,
    retention: { maxAgeMs: HOUR_MS },
    onFailure: ({ message }) => failures.push(message),
  });
  onTestFinished(async () => {
    await log.close();
    await home.remove();
  });
  return { log, failures, segment, file: home.file('log.db') };
}

describe('an unreadable segment', () => {
  it('stops neither retention nor a flush of what can be read', async () => {
    const { log } = await start();
    for (let number = 0; number < 10; number += 1)
      log.append(record(number, { startedAt: Date.now() - (number < 5 ? 2 * HOUR_MS : 0) }));
    expect(await log.flush()).toBe(0);
    expect(await log.find()).toHaveLength(5);
  });

  it('does not keep words from being indexed in the background', async () => {
    const { log, file } = await start();
    log.append(record(1));
    await log.find();
    const database = await openDatabase(file, { readOnly: true });
    onTestFinished(() => database.close());
    await waitUntil(
      () =>
        database.prepare(`SELECT rowid FROM invocations_text WHERE invocations_text MATCH 'issue'`).all()
          .length === 1,
    );
  });

  it('is reported once, and again when it comes back', async () => {
    const { log, failures, segment } = await start();
    for (let number = 0; number < 4; number += 1) {
      log.append(record(number));
      await log.flush();
    }
    expect(failures).toEqual([expect.stringContaining('EISDIR')]);
    rmdirSync(segment);
    log.append(record(5));
    await log.flush();
    mkdirSync(segment);
    log.append(record(6));
    await log.flush();
    await waitUntil(() => failures.length === 2);
    expect(await log.find()).toHaveLength(6);
  });

  it('does not hide another failure', async () => {
    const { log, failures, file } = await start();
    log.append(record(1));
    await log.flush();
    const database = await openDatabase(file);
    onTestFinished(() => database.close());
    database.exec(`CREATE TRIGGER no BEFORE INSERT ON invocations BEGIN SELECT RAISE(ABORT, 'not now'); END`);
    log.append(record(2));
    await expect(log.flush()).rejects.toThrow('not now');
    await waitUntil(() => failures.length === 2);
    expect(failures.at(-1)).toContain('not now');
    database.exec('DROP TRIGGER no');
    await log.flush();
    expect(await log.find()).toHaveLength(2);
    expect(failures).toHaveLength(2);
  });
});
