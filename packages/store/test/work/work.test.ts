import { setTimeout as delay } from 'node:timers/promises';
import { temporaryDirectory } from '@turnbuckle/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openWorkDatabase, ThreadClient } from '../../src/index.js';

async function openFile(): Promise<string> {
  const home = await temporaryDirectory();
  onTestFinished(home.remove);
  return home.file('work.db');
}

const NOTES = 'CREATE TABLE notes (text TEXT NOT NULL)';

describe('a database for parts', () => {
  it('keeps a version for each part, and brings each up to date', async () => {
    const file = await openFile();
    const first = await openWorkDatabase({ file, part: 'one', steps: [NOTES] });
    first.prepare('INSERT INTO notes VALUES (?)').run('kept');
    const other = await openWorkDatabase({ file, part: 'two', steps: ['CREATE TABLE two (x)'] });
    other.close();
    first.close();
    const later = await openWorkDatabase({
      file,
      part: 'one',
      steps: [NOTES, "ALTER TABLE notes ADD COLUMN at TEXT DEFAULT 'now'"],
    });
    expect(later.prepare('SELECT * FROM notes').all()).toMatchObject([{ text: 'kept', at: 'now' }]);
    later.close();
    await expect(openWorkDatabase({ file, part: 'one', steps: [NOTES] })).rejects.toThrow(/newer version/);
  });

  it('leaves nothing of a step or a transaction that fails', async () => {
    const file = await openFile();
    const steps = [NOTES, 'INSERT INTO nowhere VALUES (1)'];
    await expect(openWorkDatabase({ file, part: 'one', steps })).rejects.toThrow();
    const database = await openWorkDatabase({ file, part: 'one', steps: [NOTES] });
    const work = (): void => {
      database.prepare('INSERT INTO notes VALUES (?)').run('half');
      throw new Error('stop');
    };
    expect(() => database.transaction(work)).toThrow('stop');
    expect(database.prepare('SELECT * FROM notes').all()).toEqual([]);
    database.close();
  });
});

type Operations = {
  add: (text: string) => void;
  all: () => { text: string }[];
  fail: () => void;
};

describe('a database in a thread', () => {
  const open = (file: string) =>
    new ThreadClient<Operations>({ file: new URL('work-thread.mjs', import.meta.url), data: { file } });

  it('runs operations in order, and reports those that fail', async () => {
    const client = open(await openFile());
    onTestFinished(() => client.close());
    void client.run('add', 'one');
    void client.run('add', 'two');
    expect(await client.run('all')).toMatchObject([{ text: 'one' }, { text: 'two' }]);
    await expect(client.run('fail')).rejects.toThrow('not today');
    await expect(client.run('constructor' as 'fail')).rejects.toThrow('no operation');
    await client.close();
    await expect(client.run('all')).rejects.toThrow('closed');
  });

  it('does not hold up its caller while another process has the database locked', async () => {
    const file = await openFile();
    const client = open(file);
    onTestFinished(() => client.close());
    await client.run('all');
    const other = await openWorkDatabase({ file, part: 'test', steps: [NOTES] });
    other.exec('BEGIN IMMEDIATE');
    const adding = client.run('add', 'late');
    let ticks = 0;
    for (let count = 0; count < 20; count += 1) {
      await delay(10);
      ticks += 1;
    }
    other.exec('COMMIT');
    await adding;
    expect(ticks).toBe(20);
    expect(await client.run('all')).toMatchObject([{ text: 'late' }]);
    other.close();
  });

  it('fails what is asked for if it cannot be opened', async () => {
    const client = open('/proc/nowhere/work.db');
    await expect(client.run('all')).rejects.toThrow();
    await client.close();
  });
});
