import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { temporaryDirectory } from '@turnbuckle/testing';
import { expect, it as plain } from 'vitest';
import { withFileLock } from '../../src/config/edit/file-lock.js';

const it = plain.extend<{ file: string; lock: string; directory: string }>({
  // biome-ignore lint/correctness/noEmptyPattern: the runner reads the names of the fixtures from here
  directory: async ({}, use) => {
    const directory = await temporaryDirectory();
    await use(directory.path);
    await directory.remove();
  },
  file: ({ directory }, use) => use(join(directory, 'c.json')),
  lock: ({ directory }, use) => use(join(directory, 'c.json.lock')),
});

const linux = it.skipIf(process.platform !== 'linux');
const TOKEN = '0123456789abcdef';

/** The record this process writes, to be changed and put in place of one. */
async function ownRecord(file: string): Promise<Record<string, unknown>> {
  return withFileLock(file, () => JSON.parse(readFileSync(`${file}.lock`, 'utf8')));
}

async function deadPid(): Promise<number> {
  const child = spawn(process.execPath, ['--version'], { stdio: 'ignore' });
  await once(child, 'exit');
  return child.pid ?? 0;
}

const timesOut = { code: 'OVERLOADED', message: expect.stringContaining('c.json') };

it('holds the lock while the work runs and gives it back, failure or not', async ({ file, lock }) => {
  expect(await withFileLock(file, () => existsSync(lock))).toBe(true);
  expect(existsSync(lock)).toBe(false);
  const failing = withFileLock(file, () => Promise.reject(new Error('mine')));
  await expect(failing).rejects.toThrow('mine');
  expect(existsSync(lock)).toBe(false);
});

it('a record names this process', async ({ file }) => {
  expect(await ownRecord(file)).toMatchObject({
    pid: process.pid,
    token: expect.stringMatching(/^[0-9a-f]{16}$/),
  });
});

it('queues within a process, in order; who waits too long gives up and lets nobody past', async ({
  file,
}) => {
  const order: string[] = [];
  const first = withFileLock(file, async () => {
    await sleep(150);
    order.push('first');
  });
  const second = withFileLock(file, () => order.push('second'), { timeoutMs: 30 });
  const third = withFileLock(file, () => order.push('third'));
  await expect(second).rejects.toMatchObject(timesOut);
  await Promise.all([first, third]);
  expect(order).toEqual(['first', 'third']);
});

it('waits for a living owner and says who it is', async ({ file, lock }) => {
  writeFileSync(lock, JSON.stringify({ ...(await ownRecord(file)), token: TOKEN }));
  await expect(withFileLock(file, () => 0, { timeoutMs: 60 })).rejects.toMatchObject({
    ...timesOut,
    data: { pid: process.pid },
  });
  setTimeout(() => rmSync(lock), 50);
  expect(await withFileLock(file, () => 'free')).toBe('free');
});

it('takes the lock of a process that is gone', async ({ file, lock }) => {
  writeFileSync(lock, JSON.stringify({ ...(await ownRecord(file)), pid: await deadPid(), token: TOKEN }));
  expect(await withFileLock(file, () => 'mine', { timeoutMs: 500 })).toBe('mine');
  expect(existsSync(lock)).toBe(false);
});

linux('takes the lock of a process whose pid another one has now', async ({ file, lock }) => {
  writeFileSync(lock, JSON.stringify({ ...(await ownRecord(file)), start: '1', token: TOKEN }));
  expect(await withFileLock(file, () => 'mine', { timeoutMs: 500 })).toBe('mine');
});

it('judges what it cannot see by its age: another container, an unreadable lock', async ({ file, lock }) => {
  const foreign = JSON.stringify({
    ...(await ownRecord(file)),
    pid: await deadPid(),
    space: 'there',
    token: TOKEN,
  });
  for (const text of [foreign, '', '{', '[]', '{"pid":1,"start":"1","space":"x","token":"../../x"}']) {
    writeFileSync(lock, text);
    await expect(withFileLock(file, () => 0, { timeoutMs: 60 })).rejects.toMatchObject(timesOut);
    utimesSync(lock, new Date(0), new Date(0));
    expect(await withFileLock(file, () => 'mine', { timeoutMs: 500 })).toBe('mine');
  }
});

it('leaves a lock alone that somebody else took meanwhile', async ({ file, lock }) => {
  const record = await ownRecord(file);
  const other = JSON.stringify({ ...record, token: TOKEN });
  await withFileLock(file, () => writeFileSync(lock, other));
  expect(readFileSync(lock, 'utf8')).toBe(other);
});

it('goes on where another one died while it took a dead lock over', async ({ file, lock, directory }) => {
  const dead = { ...(await ownRecord(file)), pid: await deadPid() };
  writeFileSync(lock, JSON.stringify({ ...dead, token: TOKEN }));
  writeFileSync(`${lock}.${TOKEN}`, JSON.stringify({ ...dead, token: 'aaaaaaaaaaaaaaaa' }));
  writeFileSync(`${lock}.bbbbbbbbbbbbbbbb`, JSON.stringify({ ...dead, token: 'cccccccccccccccc' }));
  writeFileSync(`${lock}.bak`, "the user's");
  expect(await withFileLock(file, () => 'mine', { timeoutMs: 500 })).toBe('mine');
  expect(readdirSync(directory)).toEqual(['c.json.lock.bak']);
});

it('says so when there is no place for a lock', async ({ directory }) => {
  await expect(withFileLock(join(directory, 'no', 'c.json'), () => 0)).rejects.toMatchObject({
    code: 'CONFIG_INVALID',
    data: { reason: 'ENOENT' },
  });
});
