import { setTimeout as delay } from 'node:timers/promises';
import type { LoopClock } from '../loop/loop-parts.js';

/** The clock of the system. A wait does not keep the process up. */
export const SYSTEM_CLOCK: LoopClock = {
  now: () => Date.now(),
  wait: async (ms, signal) => {
    await delay(ms, undefined, { signal, ref: false }).catch(() => {});
  },
};
