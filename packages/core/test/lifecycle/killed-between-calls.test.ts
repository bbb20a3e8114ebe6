import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { fixture, isAlive, temporaryDirectory } from '@turnbuckle/testing';
import { expect, it } from 'vitest';
import { openRuntime, record } from './open-runtime.js';

/**
 * Waits without letting our event loop notice that the process has ended. Its pipes are closed only when
 * its last thread has ended, a moment after the process itself counts as dead.
 */
function waitForExitSync(pid: number): void {
  while (isAlive(pid) || readdirSync(`/proc/${pid}/task`).length > 1) spawnSync('sleep', ['0.005']);
}

it.skipIf(process.platform !== 'linux').each([
  { when: 'before the loss was noticed', pauseMs: 0 },
  { when: 'while the loss is being noticed', pauseMs: 1 },
  { when: 'after the loss was noticed', pauseMs: 200 },
])('a server killed between calls: the next call works and runs once, $when', async ({ pauseMs }) => {
  const directory = await temporaryDirectory();
  const file = directory.file('effects');
  const runtime = await openRuntime({ servers: { echo: fixture('echo', '--counter-file', file) } });
  await runtime.connectAll();
  const settled = record(runtime, 'call.settled');
  const rounds = 5;
  for (let round = 0; round < rounds; round += 1) {
    const { pid = 0 } = runtime.serverStatus('echo');
    expect(pid).toBeGreaterThan(1);
    process.kill(pid, 'SIGKILL');
    waitForExitSync(pid);
    if (pauseMs > 0) await delay(pauseMs);
    await runtime.callTool('echo', 'count', { label: `round ${round}` });
    expect(runtime.serverStatus('echo').pid).not.toBe(pid);
  }
  expect(settled.map(({ outcome }) => outcome)).toEqual(Array.from({ length: rounds }, () => 'ok'));
  const effects = readFileSync(file, 'utf8').trim().split('\n');
  expect(effects).toEqual(Array.from({ length: rounds }, (_, round) => `round ${round}`));
  await directory.remove();
});
