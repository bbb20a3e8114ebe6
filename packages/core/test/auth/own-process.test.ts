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
  // `close`, not `exit`: the last output may arrive after `exit`.
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

it('an otherwise idle program waits for the user', async () => {
  const stage = await setStage();
  const { page, end } = start(stage, 'browser');
  await visit(await page());
  expect(await end()).toEqual([0, 'said hi']);
});

it('an otherwise idle program waits for the code to be entered', async () => {
  const stage = await setStage();
  stage.authorization.faults.set(
    'device',
    altered((answer) => ({ ...answer, interval: 0.05 })),
  );
  const { page, end } = start(stage, 'device');
  await visit(await page());
  expect(await end()).toEqual([0, 'said hi']);
});

it('one program uses the sign-in of another', async () => {
  const stage = await setStage();
  const first = start(stage, 'browser');
  await visit(await first.page());
  expect(await first.end()).toEqual([0, 'said hi']);
  expect(await start(stage, 'browser').end()).toEqual([0, 'said hi']);
  expect(stage.authorization.requestLog.count('authorize')).toBe(1);
});

it('S27: two programs sign in concurrently, and both succeed', async () => {
  const stage = await setStage();
  const programs = [start(stage, 'browser'), start(stage, 'browser')];
  const pages = await Promise.all(programs.map(({ page }) => page()));
  for (const page of pages) await visit(page);
  expect(await Promise.all(programs.map(({ end }) => end()))).toEqual([
    [0, 'said hi'],
    [0, 'said hi'],
  ]);
});
