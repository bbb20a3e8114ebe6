import { setTimeout as pause } from 'node:timers/promises';
import { temporaryDirectory, waitUntil } from '@turnbuckle/testing';
import { expect, it, onTestFinished } from 'vitest';
import { StewardHost } from '../../src/daemon/steward-host.js';
import type { WorkSettings } from '../../src/work/services.js';
import { makeRequest } from '../request-maker.js';
import { TEST_STEPS } from '../workers/open-pool.js';
import { workerPids } from './worker-processes.js';

// requirement E8
it.runIf(process.platform === 'linux')('the workers of before have ended when new ones start', async () => {
  const home = await temporaryDirectory();
  onTestFinished(home.remove);
  const host = new StewardHost({
    file: home.file('work.db'),
    workers: () => 1,
    workSettings: async () => ({ directory: home.path }) as unknown as WorkSettings,
    configuration: () => ({ servers: new Map() }),
    onMessage: () => {},
    onTrouble: () => {},
    onFailure: () => {},
    inheritEnv: [],
    steps: TEST_STEPS,
  });
  onTestFinished(() => host.close());
  // It does not end by itself: the pool has to end it, which takes a moment.
  await host.queue.sendRequest(makeRequest({ behaviour: 'stuck' }));
  await waitUntil(() => workerPids(home.path).length === 1);
  await waitUntil(async () => (await host.queue.listRequests())[0]?.message === 'Half of the work.');
  let most = 0;
  let isRestarting = true;
  const watching = (async () => {
    for (; isRestarting; await pause(5)) most = Math.max(most, workerPids().length);
  })();
  const before = workerPids(home.path);
  await Promise.all([host.restart(), host.restart()]);
  await waitUntil(() => workerPids(home.path).some((pid) => !before.includes(pid)));
  isRestarting = false;
  await watching;
  expect(most).toBe(1);
});
