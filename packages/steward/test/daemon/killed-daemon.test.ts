/** The whole daemon is killed at random points of a request: the next one goes on with it. */
import { setTimeout as pause } from 'node:timers/promises';
import { createRandom, waitUntil } from '@turnbuckle/testing';
import { describe, expect, it } from 'vitest';
import { expectWhole, openLane, readEnergy, requestAddition } from './additions.js';
import { openKilledDaemon } from './killed-daemon.js';
import { workerPids } from './worker-processes.js';

const SEED = 51_208;
const REQUEST_MS = 1_500;
const NAMES = ['plain0', 'plain1'];

// requirement E1, E3, E4
describe('an addition', () => {
  it('goes on when the whole daemon is killed, and works only while it runs', async () => {
    const random = createRandom(SEED);
    const stage = await openLane(NAMES, { open: openKilledDaemon });
    try {
      for (const name of NAMES) {
        const id = await requestAddition(stage, name);
        const answered = stage.approveAll(id).catch(() => undefined);
        await pause(random() * REQUEST_MS);
        await stage.daemon.close(0);
        await waitUntil(() => workerPids(stage.home.path).length === 0, 2_000);
        expect(stage.config()).toEqual(expect.any(Object));
        await answered;
        await stage.restart();
        const status = await stage.approveAll(id);
        expect(status).toMatchObject({ state: 'completed' });
        expectWhole(stage);
        const steps = await readEnergy(stage, id, status);
        expect(steps.filter((step) => step === 'base')).toHaveLength(1);
      }
    } finally {
      await stage.close();
    }
  });
});
