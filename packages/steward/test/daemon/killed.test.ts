/** Workers are killed at random points of a request: it goes on or is rolled back. */
import { setTimeout as pause } from 'node:timers/promises';
import { createRandom } from '@turnbuckle/testing';
import { describe, expect, it } from 'vitest';
import { expectWhole, openLane, readEnergy, requestAddition } from './additions.js';
import type { StewardStage } from './stage.js';
import { workerPids } from './worker-processes.js';

const SEED = 51_207;
const LANES = 5;
const POINTS = process.env.TURNBUCKLE_TESTS === 'all' ? 30 : 10;
/** About as long as a request takes. */
const REQUEST_MS = 1_500;
const CANCELLED_SHARE = 0.25;

const NAMES = Array.from({ length: POINTS / LANES }, (_, at) => `plain${at}`);

/** Answers every question with yes while the work is killed; the config file is JSON all the time. */
async function killDuring(stage: StewardStage, name: string, random: () => number): Promise<string> {
  const [delayMs, isCancelled] = [random() * REQUEST_MS, random() < CANCELLED_SHARE];
  const id = await requestAddition(stage, name);
  const watch = setInterval(() => stage.config(), 5);
  const ended = stage.approveAll(id);
  // Not a wait for something: the point at which it is killed.
  await pause(delayMs);
  for (const pid of workerPids(stage.home.path)) process.kill(pid, 'SIGKILL');
  if (isCancelled) await stage.api('POST', `/api/steward/requests/${id}/cancel`, {});
  const status = await ended;
  clearInterval(watch);
  const expected = isCancelled ? ['cancelled', 'completed'] : ['completed'];
  expect(expected, JSON.stringify(status)).toContain(status.state);
  expectWhole(stage);
  const steps = await readEnergy(stage, id, status);
  // A run that was killed is not counted. One that was cancelled before it began has cost nothing.
  const once = status.state === 'completed' ? ['base', 'plan', 'install', 'test', 'configure'] : [];
  expect(steps.filter((step) => once.includes(step)).sort()).toEqual([...once].sort());
  return String(status.state);
}

// requirement E1, E3
describe('an addition', () => {
  it(`goes on or is rolled back when its worker is killed at ${POINTS} random points`, async () => {
    const random = createRandom(SEED);
    const lanes = await Promise.all(Array.from({ length: LANES }, () => openLane(NAMES)));
    try {
      const states = await Promise.all(
        lanes.map(async (stage) => {
          const ended: string[] = [];
          for (const name of NAMES) ended.push(await killDuring(stage, name, random));
          return ended;
        }),
      );
      expect(states.flat()).toHaveLength(POINTS);
      expect(states.flat()).toContain('completed');
    } finally {
      await Promise.all(lanes.map((stage) => stage.close()));
    }
  });
});
