import { expect, it } from 'vitest';
import { race, renewals } from '../../packages/core/test/auth/race.js';
import { setStage } from '../../packages/core/test/auth/stage.js';

const EXPIRIES = 100;

it(`60 callers in 11 processes over ${EXPIRIES} expiries: one renewal each, nobody signs in again`, async () => {
  const stage = await setStage();
  const { calls, failures } = await race(stage, {
    processes: 11,
    callers: 60,
    pauseMs: 300,
    expiries: EXPIRIES,
    seconds: 2,
  });
  const seen = renewals(stage);
  process.stdout.write(
    `${calls} calls, ${failures.length} failed; ${seen.asked} renewals of ${seen.distinct} tokens, ${seen.reused} reused\n`,
  );
  expect(failures).toEqual([]);
  expect(seen.granted).toBeGreaterThanOrEqual(EXPIRIES);
  expect(seen).toMatchObject({ asked: seen.granted, distinct: seen.granted, reused: 0, signIns: 1 });
  expect(seen.tokensUsed).toBeGreaterThanOrEqual(seen.granted);
  expect(seen.tokensUsed).toBeLessThanOrEqual(seen.granted + 1);
});
