import { cpus } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';

const probeMs = 40;
const busyShare = 0.35;
const longestWaitMs = 400;
// The total waiting time of a run: on a machine that is never idle, the medians alone must absorb the noise.
let waitBudgetMs = 30_000;

function readTimes() {
  let idle = 0;
  let total = 0;
  for (const { times } of cpus()) {
    idle += times.idle;
    total += times.user + times.nice + times.sys + times.irq + times.idle;
  }
  return { idle, total };
}

async function isBusy() {
  const before = readTimes();
  await sleep(probeMs);
  const after = readTimes();
  const total = after.total - before.total;
  return total > 0 && 1 - (after.idle - before.idle) / total > busyShare;
}

/** Waits briefly until the machine is idle; gives up after `longestWaitMs`. */
export async function calm() {
  let waitedMs = 0;
  while (await isBusy()) {
    waitedMs += probeMs;
    waitBudgetMs -= probeMs;
    if (waitedMs >= longestWaitMs || waitBudgetMs <= 0) return;
  }
}
