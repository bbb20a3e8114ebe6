/** The daemon answers while the steward installs, and tests servers that hang or crash. */
import { setTimeout as pause } from 'node:timers/promises';
import { timeBound, waitUntil } from '@turnbuckle/testing';
import { expect, it } from 'vitest';
import { scriptedPackage, scriptedRecord } from './hostile-servers.js';
import { type KilledDaemon, openKilledDaemon } from './killed-daemon.js';
import { openStewardStage } from './stage.js';
import { workerChildren } from './worker-processes.js';

const MAX_DELAY_MS = 20;
const GOOD = ['good0', 'good1'];
const CRASHING = ['crash0', 'crash1'];
const HANGING = ['hang0', 'hang1'];

// requirement E2
it('the event loop of the daemon stays free while the steward works', async () => {
  let daemon: KilledDaemon | undefined;
  const tool = (name: string) => [{ name: `count_${name}`, text: 'Count.' }];
  const stage = await openStewardStage({
    settings: { workers: 2 },
    packages: [
      ...GOOD.map((name) => scriptedPackage(name, { tools: tool(name) })),
      ...CRASHING.map((name) => scriptedPackage(name, { start: 'process.exit(3);' })),
      ...HANGING.map((name) =>
        scriptedPackage(name, { start: 'setInterval(() => {}, 9);', onRequest: 'return;' }),
      ),
    ],
    records: [...GOOD, ...CRASHING, ...HANGING].map((name) => scriptedRecord(name)),
    open: async (place) => (daemon = await openKilledDaemon(place)),
  });
  let isWorking = true;
  let slowestMs = 0;
  const health = async (): Promise<void> => {
    while (isWorking) {
      const before = performance.now();
      expect((await fetch(`${stage.daemon.url}/health`)).status).toBe(200);
      slowestMs = Math.max(slowestMs, performance.now() - before);
      await pause(20);
    }
  };
  try {
    const add = (name: string) => stage.request('add_server', { registryName: `io.github.acme/${name}` });
    await daemon?.loopDelay();
    const ids = await Promise.all([...GOOD, ...CRASHING].map(add));
    const hanging = await Promise.all(HANGING.map(add));
    const asking = health();
    const ended = await Promise.all(ids.map((id) => stage.approveAll(id)));
    for (const id of hanging) await stage.answer(String((await stage.approval(id)).id), 'yes');
    // They are tested now, and answer nothing.
    await waitUntil(() => workerChildren(stage.home.path).some((command) => command.includes('server-hang')));
    for (const id of hanging) await stage.api('POST', `/api/steward/requests/${id}/cancel`, {});
    for (const id of hanging) await stage.until(id, 'cancelled');
    isWorking = false;
    await asking;
    expect(ended.map(({ state }) => state)).toEqual(['completed', 'completed', 'failed', 'failed']);
    expect(await daemon?.loopDelay()).toBeLessThan(timeBound(MAX_DELAY_MS));
    expect(slowestMs).toBeLessThan(timeBound(1_000));
  } finally {
    isWorking = false;
    await stage.close();
  }
});
