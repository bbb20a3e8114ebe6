import { expect, it } from 'vitest';
import { type Ending, runRounds } from './rounds.js';
import { setStage } from './stage.js';

// The full version, with 60 callers in 11 processes, is in e2e/soak/renewals.test.ts.
it.each<Ending>(['expires', 'is taken back'])(
  'S25: a token that %s is renewed once for all processes on a busy machine, and no call fails',
  async (ending) => {
    const stage = await setStage();
    const rounds = await runRounds(stage, { processes: 4, callers: 20, rounds: 3, ending, busy: 2 });
    expect(rounds.flatMap(({ failures }) => failures)).toEqual([]);
    expect(rounds.map(({ renewals }) => renewals)).toEqual(rounds.map(() => 1));
    expect(stage.pages.length).toBe(1);
  },
  180_000,
);
