import { expect, it } from 'vitest';
import { runKillCycles } from '../../packages/gateway/test/log/kill-cycles.js';

const KILLS = Number(process.env.SOAK_KILLS ?? 200);

it(`${KILLS} processes are killed while they make calls: each answered call is in the log once`, async () => {
  const report = await runKillCycles({
    kills: Math.ceil(KILLS / 2),
    atOnce: 2,
    // From the first calls until well after the log has begun to take in the journal.
    linesFor: (round) => 1 + ((round * 137) % 3_000),
  });
  expect(report.acknowledged).toBeGreaterThan(KILLS);
  expect(report).toMatchObject({ lost: [], doubled: [], integrity: 'ok', unusable: 0 });
});
