import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { temporaryDirectory } from '@turnbuckle/testing';
import { expect, it as plain } from 'vitest';
import { withFileLock } from '../../src/files/file-lock.js';

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

/** The lock record that this process writes, as a template for other records. */
async function ownRecord(file: string): Promise<Record<string, unknown>> {
  return withFileLock(file, () => JSON.parse(readFileSync(`${file}.lock`, 'utf8')));
}

async function deadPid(): Promise<number> {
  const child = spawn(process.execPath, ['--version'], { stdio: 'ignore' });
  await once(child, 'exit');
  return child.pid ?? 0;
}

const timesOut = { code: 'OVERLOADED', message: expect.stringContaining('c.json') };

it('holds the lock while the work runs and releases it, failure or not', async ({ file, lock }) => {
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

it('queues within a process, in order, even if a waiter times out', async ({ file }) => {
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

it('waits for a live owner and names it', async ({ file, lock }) => {
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

linux('takes the lock of an ended process whose pid was reused', async ({ file, lock }) => {
  writeFileSync(lock, JSON.stringify({ ...(await ownRecord(file)), start: '1', token: TOKEN }));
  expect(await withFileLock(file, () => 'mine', { timeoutMs: 500 })).toBe('mine');
});

it('judges a lock by its age if its owner is unknown: in another container, unreadable', async ({
  file,
  lock,
}) => {
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

it('does not touch a lock that another process took meanwhile', async ({ file, lock }) => {
  const record = await ownRecord(file);
  const other = JSON.stringify({ ...record, token: TOKEN });
  await withFileLock(file, () => writeFileSync(lock, other));
  expect(readFileSync(lock, 'utf8')).toBe(other);
});

it('takes over a stale lock even if another process died while doing so', async ({
  file,
  lock,
  directory,
}) => {
  const dead = { ...(await ownRecord(file)), pid: await deadPid() };
  writeFileSync(lock, JSON.stringify({ ...dead, token: TOKEN }));
  writeFileSync(`${lock}.${TOKEN}`, JSON.stringify({ ...dead, token: 'aaaaaaaaaaaaaaaa' }));
  writeFileSync(`${lock}.bbbbbbbbbbbbbbbb`, JSON.stringify({ ...dead, token: 'cccccccccccccccc' }));
  writeFileSync(`${lock}.bak`, "the user's");
  expect(await withFileLock(file, () => 'mine', { timeoutMs: 500 })).toBe('mine');
  expect(readdirSync(directory)).toEqual(['c.json.lock.bak']);
});

it('never exists without its record, and leaves no temporary file behind', async ({
  file,
  lock,
  directory,
}) => {
  const seen: string[] = [];
  let over = false;
  const watching = (async () => {
    while (!over) {
      if (existsSync(lock)) seen.push(readFileSync(lock, 'utf8'));
      await sleep(0);
    }
  })().catch(() => {});
  for (let round = 0; round < 200; round += 1) await withFileLock(file, () => sleep(0));
  over = true;
  await watching;
  expect(seen.length).toBeGreaterThan(0);
  for (const text of seen) expect(JSON.parse(text)).toMatchObject({ pid: process.pid });
  expect(readdirSync(directory)).toEqual([]);
});

it('a temporary file of a process that died is removed', async ({ file, lock, directory }) => {
  const pid = await deadPid();
  const record = { ...(await ownRecord(file)), pid, token: TOKEN };
  writeFileSync(`${lock}.${pid}-${TOKEN}.new`, JSON.stringify(record));
  writeFileSync(`${lock}.${TOKEN}.${pid}-${TOKEN}.new`, '');
  await withFileLock(file, () => {});
  expect(readdirSync(directory)).toEqual([]);
});

it('a waiter returns early if the work is already done, which is checked once per holder', async ({
  file,
  lock,
}) => {
  const record = await ownRecord(file);
  const holders = [TOKEN, 'fedcba9876543210', '00112233445566ff'];
  const hold = (token: string | undefined): void => writeFileSync(lock, JSON.stringify({ ...record, token }));
  hold(holders[0]);
  let asked = 0;
  const waiting = withFileLock(file, () => 'worked', {
    isDone: async () => {
      asked += 1;
      // Long enough to check the same holder several times.
      if (asked < holders.length) setTimeout(hold, 100, holders[asked]);
      return asked === holders.length;
    },
  });
  expect(await waiting).toBeUndefined();
  expect(asked).toBe(holders.length);
  rmSync(lock);
  expect(await withFileLock(file, () => 'worked', { isDone: async () => true })).toBe('worked');
});

it('reports that a lock cannot be created', async ({ directory }) => {
  await expect(withFileLock(join(directory, 'no', 'c.json'), () => 0)).rejects.toMatchObject({
    code: 'CONFIG_INVALID',
    data: { reason: 'ENOENT' },
  });
});
