import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, it as plain } from 'vitest';
import {
  isProcessAlive,
  isProcessGone,
  isSameProcess,
  ownIdentity,
  processState,
  readProcessStat,
} from '../../src/files/process-identity.js';

const linux = plain.skipIf(process.platform !== 'linux');
const it = plain;

async function deadPid(): Promise<number> {
  const child = spawn(process.execPath, ['--version'], { stdio: 'ignore' });
  await once(child, 'exit');
  return child.pid ?? 0;
}

it('reports this process as alive', () => {
  expect(processState(ownIdentity())).toBe('alive');
  expect(isProcessAlive(process.pid)).toBe(true);
});

it('reports an ended process as gone', async () => {
  const pid = await deadPid();
  expect(processState({ ...ownIdentity(), pid })).toBe('gone');
  expect(isProcessGone({ ...ownIdentity(), pid }, 0)).toBe(true);
});

it.each([Number.NaN, 0, -1, 1.5])('finds no process with the pid %s', (pid) => {
  expect(isProcessAlive(pid)).toBe(false);
});

linux('reports a process as gone if another one has its pid', () => {
  expect(processState({ ...ownIdentity(), start: '1' })).toBe('gone');
  expect(isSameProcess({ pid: process.pid, start: '1' })).toBe(false);
  expect(isSameProcess({ pid: process.pid, start: '' })).toBe(true);
});

linux('reports a zombie as gone', async () => {
  // The shell becomes `sleep`, which does not reap its child.
  const parent = spawn('sh', ['-c', 'sleep 0.5 & echo $!; exec sleep 30'], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  try {
    const [line] = await once(parent.stdout, 'data');
    const pid = Number(String(line));
    await expect.poll(() => readProcessStat(pid)?.zombie, { timeout: 20_000 }).toBe(true);
    expect(isProcessAlive(pid)).toBe(false);
    expect(processState({ ...ownIdentity(), pid, start: '' })).toBe('gone');
  } finally {
    parent.kill();
  }
});

it('judges a process in another pid namespace only by the age of its file', async () => {
  const elsewhere = { ...ownIdentity(), pid: await deadPid(), space: 'elsewhere' };
  expect(processState(elsewhere)).toBe('elsewhere');
  expect([isProcessGone(elsewhere, 59_000), isProcessGone(elsewhere, 61_000)]).toEqual([false, true]);
  expect([isProcessGone(elsewhere, 900, 1_000), isProcessGone(elsewhere, 1_100, 1_000)]).toEqual([
    false,
    true,
  ]);
});
