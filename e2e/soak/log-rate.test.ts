import { setTimeout as delay } from 'node:timers/promises';
import { CallLog, type CallRecord } from '@turnbuckle/store';
import { temporaryDirectory } from '@turnbuckle/testing';
import { expect, it } from 'vitest';

const PER_SECOND = 10_000;
const SECONDS = 10;
const STEP_MS = 10;
const STEP = (PER_SECOND * STEP_MS) / 1_000;
const MAX_MEMORY_BYTES = 150 * 1_024 * 1_024;
const MAX_APPEND_MS = 0.02;

const toRecord = (number: number): CallRecord => ({
  id: `call-${number}`,
  startedAt: Date.now(),
  durationMs: 1.5,
  caller: 'agent-1',
  server: 'github',
  tool: 'search',
  toolName: 'mcp__github__search',
  kind: 'tool',
  arguments: `{"query":"issue ${number}"}`,
  argumentsBytes: 20,
  result: `{"content":[{"type":"text","text":"${'found it '.repeat(20)}"}]}`,
  resultBytes: 220,
  outcome: 'ok',
  attempts: 1,
});

it('accepts 10,000 records a second for ten seconds: none lost, memory bounded, each in microseconds', async ({
  annotate,
}) => {
  const home = await temporaryDirectory();
  const log = new CallLog({ directory: home.path });
  await log.flush();
  const before = process.memoryUsage.rss();
  const took: number[] = [];
  let most = 0;
  const started = performance.now();
  for (let step = 0; step < (SECONDS * 1_000) / STEP_MS; step += 1) {
    await delay(Math.max(started + step * STEP_MS - performance.now(), 0));
    for (let count = 0; count < STEP; count += 1) {
      const record = toRecord(step * STEP + count);
      const at = performance.now();
      log.append(record);
      took.push(performance.now() - at);
    }
    most = Math.max(most, process.memoryUsage.rss());
  }
  const offered = took.length;
  expect(await log.flush()).toBe(0);
  const flushed = performance.now() - started;
  const [all] = await log.serverAnalytics();
  const { counts } = log;
  await log.close();
  await home.remove();
  took.sort((left, right) => left - right);
  const [median = 0, late = 0] = [took[offered >> 1], took[Math.floor(offered * 0.99)]];
  const figures = {
    medianMicroseconds: median * 1_000,
    lateMicroseconds: late * 1_000,
    allFoundAfterMs: flushed,
    memoryBytes: most - before,
  };
  await annotate(JSON.stringify(figures));
  expect(all?.calls).toBe(offered);
  expect(counts).toEqual({ kept: offered, bare: 0, dropped: 0, refused: 0 });
  expect(most - before).toBeLessThan(MAX_MEMORY_BYTES);
  if (process.env.TURNBUCKLE_TIMING === 'strict') expect(median).toBeLessThan(MAX_APPEND_MS);
});
