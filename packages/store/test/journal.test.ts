import { mkdirSync, readdirSync, renameSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryDirectory } from '@turnbuckle/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { CallLog, Journal } from '../src/index.js';
import { record } from './record.js';

async function directory(): Promise<string> {
  const home = await temporaryDirectory();
  onTestFinished(home.remove);
  return home.path;
}

const DAY_MS = 24 * 3_600_000;

describe('the limit of the journal', () => {
  it('is the one that was measured last while the directory cannot be read', async () => {
    const path = join(await directory(), 'journal');
    let now = 0;
    const journal = new Journal({ directory: path, durability: 'process', maxBytes: 10, now: () => now });
    journal.append(JSON.stringify({ text: 'x' }));
    expect(journal.capacity()).toBe('bare');
    renameSync(path, `${path}-gone`);
    now += DAY_MS;
    expect(journal.capacity()).toBe('bare');
  });

  it('drops the large parts first, then whole records, and accepts them again when there is room', async () => {
    const path = await directory();
    let now = 0;
    const journal = new Journal({
      directory: path,
      durability: 'process',
      maxBytes: 10_000,
      segmentBytes: 1_000,
      now: () => now,
    });
    const line = JSON.stringify({ text: 'x'.repeat(480) });
    const fill = (): number => {
      const room = journal.capacity();
      let count = 0;
      for (; journal.capacity() === room && count < 100; count += 1) journal.append(line);
      return count;
    };
    expect(journal.capacity()).toBe('whole');
    expect(fill()).toBeGreaterThan(15);
    expect(journal.capacity()).toBe('bare');
    expect(fill()).toBeGreaterThan(15);
    expect(journal.capacity()).toBe('none');
    for (const file of readdirSync(path)) writeFileSync(join(path, file), '');
    // It does not check the size at every call.
    expect(journal.capacity()).toBe('none');
    now += 1_000;
    expect(journal.capacity()).toBe('whole');
  });

  it('counts what is dropped, and is reported once', async () => {
    const path = await directory();
    mkdirSync(join(path, 'journal'));
    // Belongs to a process of another machine, which may yet write to it.
    const foreign = join(path, 'journal', '000000000000001-1-ffffffff-1.open');
    writeFileSync(foreign, `${JSON.stringify(record(0))}\n`.repeat(100));
    const failures: string[] = [];
    const open = (maxJournalBytes: number): CallLog =>
      new CallLog({
        directory: path,
        maxJournalBytes,
        onFailure: ({ message }) => failures.push(message),
      });
    const tight = open(20_000);
    tight.append(record(1));
    await tight.flush();
    expect(await tight.get('call-1')).toMatchObject({ arguments: null, result: null, arguments_bytes: 20 });
    expect(tight.counts).toEqual({ kept: 1, bare: 1, dropped: 0, refused: 0 });
    await tight.close();
    const full = open(1_000);
    expect(full.append(record(2))).toBe(false);
    expect(full.append(record(3))).toBe(false);
    expect(full.counts).toEqual({ kept: 0, bare: 0, dropped: 2, refused: 0 });
    expect(failures).toHaveLength(1);
    await full.close();
  });
});

describe('a segment of another machine', () => {
  it('is imported, but not deleted while it may be written to', async () => {
    const path = await directory();
    const journal = join(path, 'journal');
    mkdirSync(journal);
    const foreign = join(journal, '000000000000001-1-ffffffff-1.open');
    writeFileSync(foreign, `${JSON.stringify(record(1))}\n`);
    const log = new CallLog({ directory: path });
    await log.flush();
    expect(await log.find()).toHaveLength(1);
    expect(readdirSync(journal)).toHaveLength(1);
    const long = (Date.now() - 2 * DAY_MS) / 1_000;
    utimesSync(foreign, long, long);
    await log.flush();
    expect(await log.find()).toHaveLength(1);
    expect(readdirSync(journal)).toEqual([]);
    await log.close();
  });
});
