/** What the log knows about the cost of calls: estimates, and what is left of budgets, survive a restart. */
import type { CallLog, Row } from '@turnbuckle/store';
import type { Runtime } from 'turnbuckle';

type EnergyQueries = Pick<CallLog, 'energySamples' | 'energySpans'>;

/** Rejects if the log cannot be read. */
export async function restoreEnergy(
  { energy }: Pick<Runtime, 'energy'>,
  log: EnergyQueries,
  now: number,
): Promise<void> {
  if (energy === undefined) return;
  const { longestPeriodMs } = energy;
  if (longestPeriodMs > 0) {
    const spans = await log.energySpans(now - longestPeriodMs);
    energy.restoreBudgets(spans.map((row) => toSpending(row, now)));
  }
  const samples = await log.energySamples();
  energy.learn(samples.map(toCost));
}

const toSpending = ({ at, caller, run, server, energy }: Row, now: number) => ({
  caller: String(caller),
  run: run === null ? undefined : String(run),
  server: String(server),
  energy: Number(energy),
  agoMs: now - Number(at),
});

const toCost = ({ server, tool, kind, energy }: Row) => ({
  server: String(server),
  tool: String(tool),
  kind: kind === 'resource' || kind === 'prompt' ? (kind as 'resource' | 'prompt') : undefined,
  energy: Number(energy),
});
