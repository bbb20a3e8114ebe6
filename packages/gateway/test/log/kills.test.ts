import { expect, it } from 'vitest';
import { runKillCycles } from './kill-cycles.js';

it('the log has every answered call of killed processes exactly once', async () => {
  const report = await runKillCycles({ kills: 3, atOnce: 2, linesFor: (round) => 200 + round * 300 });
  expect(report.acknowledged).toBeGreaterThanOrEqual(2 * (200 + 500 + 800));
  expect(report).toMatchObject({ lost: [], doubled: [], integrity: 'ok', unusable: 0 });
});
