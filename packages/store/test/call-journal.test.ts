import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { temporaryDirectory } from '@turnbuckle/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { CallJournal, CallLog, LogReader } from '../src/index.js';
import { record } from './record.js';

const SCRIPT = fileURLToPath(new URL('append-once.mjs', import.meta.url));

async function openDirectory(): Promise<string> {
  const home = await temporaryDirectory();
  onTestFinished(home.remove);
  return home.file('log');
}

async function idsIn(directory: string): Promise<unknown[]> {
  const log = await LogReader.open(directory);
  const ids = log?.find({ limit: 1_000 }).map(({ id }) => id) ?? [];
  log?.close();
  return ids.sort();
}

async function appendAndClose(directory: string, number: number, maxSegments?: number): Promise<void> {
  const journal = new CallJournal({ directory, maxSegments });
  journal.append(record(number));
  await journal.close();
}

// requirement D5
describe('a journal without a database', () => {
  it('creates nothing before the first record, and no database then', async () => {
    const directory = await openDirectory();
    const journal = new CallJournal({ directory });
    await journal.close();
    expect(existsSync(directory)).toBe(false);
    await appendAndClose(directory, 1);
    expect(readdirSync(directory)).toEqual(['journal']);
    expect(await idsIn(directory)).toEqual(['call-1']);
  });

  it('is read while it is open, and nothing comes twice', async () => {
    const directory = await openDirectory();
    const journal = new CallJournal({ directory });
    journal.append(record(1));
    expect(await idsIn(directory)).toEqual(['call-1']);
    journal.append(record(2));
    expect(await idsIn(directory)).toEqual(['call-1', 'call-2']);
    await journal.close();
    expect(await idsIn(directory)).toEqual(['call-1', 'call-2']);
    expect(readdirSync(`${directory}/journal`)).toEqual([]);
  });

  it('loses nothing of many processes that write at once, beside a log that ingests', async () => {
    const directory = await openDirectory();
    const log = new CallLog({ directory });
    const names = Array.from({ length: 12 }, (_, index) => `p${index}`);
    const children = names.map((name) => spawn(process.execPath, [SCRIPT, directory, name]));
    log.append(record(0));
    for (const child of children) if (child.exitCode === null) await once(child, 'exit');
    await log.flush();
    await log.close();
    const expected = names.flatMap((name) => [1, 2, 3].map((number) => `${name}-${number}`));
    expect(await idsIn(directory)).toEqual(['call-0', ...expected.sort()]);
    expect(readdirSync(`${directory}/journal`)).toEqual([]);
  });

  it('ingests when many files wait, and deletes what is too old', async () => {
    const directory = await openDirectory();
    const old = new CallJournal({ directory });
    old.append(record(1, { startedAt: Date.now() - 40 * 24 * 3_600_000 }));
    await old.close();
    for (let number = 2; number <= 4; number += 1) await appendAndClose(directory, number, 4);
    expect(readdirSync(`${directory}/journal`)).toHaveLength(4);
    await appendAndClose(directory, 5, 4);
    expect(readdirSync(`${directory}/journal`)).toEqual([]);
    expect(await idsIn(directory)).toEqual(['call-2', 'call-3', 'call-4', 'call-5']);
  });

  it.skipIf(process.getuid?.() === 0)('reports once that it cannot write, and throws nothing', async () => {
    const directory = await openDirectory();
    mkdirSync(directory);
    chmodSync(directory, 0o500);
    const failures: string[] = [];
    const journal = new CallJournal({ directory, onFailure: ({ message }) => failures.push(message) });
    expect([journal.append(record(1)), journal.append(record(2))]).toEqual([false, false]);
    await journal.close();
    expect(failures).toEqual([expect.stringContaining('EACCES')]);
  });

  it('reports once that its directory is a file, and throws nothing', async () => {
    const directory = await openDirectory();
    writeFileSync(directory, 'in the way');
    const failures: string[] = [];
    const journal = new CallJournal({ directory, onFailure: ({ message }) => failures.push(message) });
    expect([journal.append(record(1)), journal.append(record(2))]).toEqual([false, false]);
    await journal.close();
    expect(failures).toHaveLength(1);
  });
});
