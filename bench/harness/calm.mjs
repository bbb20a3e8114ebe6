import { cpus } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';

const probeMs = 40;
const busyShare = 0.35;
const longestWaitMs = 400;
// A machine that is never calm must not stretch the run: after this the medians alone have to cope.
let patienceMs = 30_000;

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

/** Waits a moment for other work on the machine to pause; gives up early rather than late. */
export async function calm() {
  let waitedMs = 0;
  while (await isBusy()) {
    waitedMs += probeMs;
    patienceMs -= probeMs;
    if (waitedMs >= longestWaitMs || patienceMs <= 0) return;
  }
}
