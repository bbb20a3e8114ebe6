import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { fixture, processesWithEnvironment, temporaryDirectory, waitUntil } from '@turnbuckle/testing';
import { expect, it, type TestContext } from 'vitest';
import { ONCE, openRuntime } from '../lifecycle/open-runtime.js';

const linux = it.skipIf(process.platform !== 'linux').concurrent;

async function openStubborn({ onTestFinished }: TestContext) {
  const directory = await temporaryDirectory();
  const mark = randomUUID();
  const marked = (): number[] => processesWithEnvironment('CYCLE', mark);
  onTestFinished(async () => {
    for (const pid of marked()) process.kill(pid, 'SIGKILL');
    await directory.remove();
  });
  const file = directory.file('pids');
  const server = {
    ...fixture('stubborn', '--pid-file', file, '--life-ms', '60000'),
    env: { CYCLE: mark },
    reconnect: ONCE,
  };
  const runtime = await openRuntime({ servers: { server } }, onTestFinished);
  await runtime.connectAll();
  await waitUntil(() => existsSync(file) && readFileSync(file, 'utf8').split('\n').length === 6);
  return { runtime, marked, pid: runtime.serverStatus('server').pid ?? 0 };
}

linux('a server that is killed from outside leaves no descendants, even before close()', async (context) => {
  const { runtime, marked, pid } = await openStubborn(context);
  process.kill(pid, 'SIGKILL');
  await waitUntil(() => runtime.serverStatus('server').status === 'failed');
  await waitUntil(() => marked().length === 0, 10_000);
});

linux('close() also waits for the descendants of a server that was lost earlier', async (context) => {
  const { runtime, marked, pid } = await openStubborn(context);
  process.kill(pid, 'SIGKILL');
  await waitUntil(() => runtime.serverStatus('server').status === 'failed');
  expect(marked().length).toBeGreaterThan(0);
  await runtime.close();
  expect(marked()).toEqual([]);
});

linux('close() also waits for a server that is being removed', async (context) => {
  const { runtime, marked } = await openStubborn(context);
  const removed = runtime.setServers({});
  await runtime.close();
  expect(marked()).toEqual([]);
  await removed;
});

linux('disconnect() resolves when the whole process tree has ended', async (context) => {
  const { runtime, marked } = await openStubborn(context);
  await runtime.disconnect('server');
  expect(marked()).toEqual([]);
});
