import { expect, it } from 'vitest';
import { race, renewals } from '../../packages/core/test/auth/race.js';
import { type Ending, runRounds } from '../../packages/core/test/auth/rounds.js';
import { setStage } from '../../packages/core/test/auth/stage.js';

const EXPIRIES = 100;

it(`60 callers in 11 processes over ${EXPIRIES} expiries: one renewal each, and no second sign-in`, async () => {
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

it.each<Ending>(['expires', 'is taken back'])(
  'a token that %s: 60 callers in 11 processes on a busy machine, 10 rounds with one renewal each, and every call succeeds',
  async (ending) => {
    const stage = await setStage();
    const rounds = await runRounds(stage, { processes: 11, callers: 60, rounds: 10, ending, busy: 6 });
    const slowestMs = Math.max(...rounds.map((round) => round.slowestMs));
    const renewed = rounds.map((round) => round.renewals);
    process.stdout.write(`renewals ${renewed.join(' ')}; slowest call ${Math.round(slowestMs)} ms\n`);
    expect(rounds.flatMap(({ failures }) => failures)).toEqual([]);
    expect(renewed).toEqual(rounds.map(() => 1));
  },
);
