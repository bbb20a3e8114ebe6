import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { waitUntil } from '@turnbuckle/testing';
import { altered, visit } from '@turnbuckle/testing/authorization-server';
import { expect, it } from 'vitest';
import { type Stage, setStage } from './stage.js';

const PROGRAM = fileURLToPath(new URL('signing-in.mjs', import.meta.url));

function start({ stateDir, server }: Stage, method: string, stdin: 'ignore' | 'pipe' = 'ignore') {
  const child = spawn(process.execPath, [PROGRAM, stateDir, server.url, method], {
    stdio: [stdin, 'pipe', 'inherit'],
  });
  let printed = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    printed += text;
  });
  // Not its exit: what it printed last may come after that.
  const ended = once(child, 'close');
  const page = async (): Promise<string> => {
    await waitUntil(() => /^page \S+$/m.test(printed) || child.exitCode !== null, 20_000);
    return /^page (\S+)$/m.exec(printed)?.[1] ?? '';
  };
  const end = async (): Promise<[number | null, string]> => {
    await ended;
    return [child.exitCode, printed.trim().split('\n').at(-1) ?? ''];
  };
  return { child: child as ChildProcess, page, end };
}

it('a program with nothing else to do waits for the person', async () => {
  const stage = await setStage();
  const { page, end } = start(stage, 'browser');
  await visit(await page());
  expect(await end()).toEqual([0, 'said hi']);
});

it('a program with nothing else to do waits for the code to be typed in', async () => {
  const stage = await setStage();
  stage.authorization.faults.set(
    'device',
    altered((answer) => ({ ...answer, interval: 0.05 })),
  );
  const { page, end } = start(stage, 'device');
  await visit(await page());
  expect(await end()).toEqual([0, 'said hi']);
});

it('what one program signs in, another one uses', async () => {
  const stage = await setStage();
  const first = start(stage, 'browser');
  await visit(await first.page());
  expect(await first.end()).toEqual([0, 'said hi']);
  expect(await start(stage, 'browser').end()).toEqual([0, 'said hi']);
  expect(stage.authorization.tally.count('authorize')).toBe(1);
});

it('S27: two programs sign in at once, and both succeed', async () => {
  const stage = await setStage();
  const programs = [start(stage, 'browser'), start(stage, 'browser')];
  const pages = await Promise.all(programs.map(({ page }) => page()));
  for (const page of pages) await visit(page);
  expect(await Promise.all(programs.map(({ end }) => end()))).toEqual([
    [0, 'said hi'],
    [0, 'said hi'],
  ]);
});
