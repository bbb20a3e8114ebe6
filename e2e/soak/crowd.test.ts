import { expect, it } from 'vitest';
import { crowd } from '../../packages/core/test/lifecycle/crowd.js';
import { openRuntime } from '../../packages/core/test/lifecycle/open-runtime.js';

const ROUNDS = 5;
const MAX_CONNECT_MS = 1_000;
const CONNECT_TIMEOUT_MS = 1_500;
/** Extra time on a busy machine, on top of the server's own limit. */
const SLACK_MS = 1_000;

/** When each of these servers was ready or failed, in ms after connectAll(). */
async function measure(names?: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const { servers } = crowd({ connectTimeoutMs: CONNECT_TIMEOUT_MS, slowestMs: MAX_CONNECT_MS });
  const chosen = Object.entries(servers).filter(([name]) => names?.includes(name) ?? true);
  const runtime = await openRuntime({ servers: Object.fromEntries(chosen) });
  const settled = new Map<string, number>();
  const started = performance.now();
  runtime.on('server.state', ({ server, from }) => {
    if (from === 'connecting' && !settled.has(server)) settled.set(server, performance.now() - started);
  });
  await runtime.connectAll();
  await runtime.close();
  return settled;
}

const median = (values: readonly number[]): number =>
  [...values].sort((left, right) => left - right)[Math.floor(values.length / 2)] ?? Number.NaN;

it('next to ten bad servers, all good servers connect within 1.5x of the time that the slowest needs alone', async () => {
  const { good } = crowd({ connectTimeoutMs: CONNECT_TIMEOUT_MS });
  const slowest = good.at(-1) ?? '';
  const alone: number[] = [];
  const crowded: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    alone.push((await measure([slowest])).get(slowest) ?? Number.NaN);
    const all = await measure();
    crowded.push(Math.max(...good.map((name) => all.get(name) ?? Number.POSITIVE_INFINITY)));
  }
  const [aloneMs, crowdedMs] = [median(alone), median(crowded)];
  const measured = `${aloneMs.toFixed(0)} ms alone, ${crowdedMs.toFixed(0)} ms in the crowd`;
  expect(crowdedMs / aloneMs, measured).toBeLessThan(1.5);
  process.stdout.write(`the slowest good server: ${measured}, ${(crowdedMs / aloneMs).toFixed(2)}x\n`);
});

it('each bad server is reported as failed within its own time limit', async () => {
  const settled = await measure();
  const late = [...settled].filter(([, ms]) => ms > CONNECT_TIMEOUT_MS + SLACK_MS);
  expect(late).toEqual([]);
});
