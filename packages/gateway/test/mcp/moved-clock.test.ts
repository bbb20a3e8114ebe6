/** The system's clock is set while something waits: the wait ends when it should, neither later nor sooner. */
import { fixture, movableClock, waitUntil } from '@turnbuckle/testing';
import { expect, it, onTestFinished } from 'vitest';
import { RateLimit } from '../../src/http/limits/rate-limit.js';
import { initialize } from './raw-client.js';
import { openStand } from './stand.js';

const HOUR_MS = 3_600_000;
const WAIT_MS = 2_000;
const MOVES = [
  ['back', -HOUR_MS],
  ['forward', HOUR_MS],
] as const;

/** Installed before the endpoint is created, which keeps a reference to its clock. */
function installClock(): (ms: number) => void {
  const clock = movableClock();
  onTestFinished(clock.restore);
  return clock.move;
}

it.each(MOVES)('an idle session, when the clock is set %s', async (_, ms) => {
  const move = installClock();
  const stand = await openStand({
    servers: { up: fixture('echo') },
    sessionLimits: { idleMs: WAIT_MS },
  });
  onTestFinished(() => stand.close());
  const { sessions } = stand.endpoint;
  const from = performance.now();
  await initialize(stand);
  move(ms);
  await waitUntil(() => {
    sessions.sweep();
    return sessions.size === 0;
  });
  expect(performance.now() - from).toBeGreaterThan(WAIT_MS - 1);
});

it.each(MOVES)('a rate limit that is used up, when the clock is set %s', async (_, ms) => {
  const move = installClock();
  const limit = new RateLimit({ perSecond: 1_000 / WAIT_MS, burst: 1 });
  const from = performance.now();
  expect(limit.take('ada')).toBe(0);
  move(ms);
  await waitUntil(() => limit.take('ada') === 0);
  expect(performance.now() - from).toBeGreaterThan(WAIT_MS - 1);
});
