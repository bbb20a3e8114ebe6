/**
 * Starting a process blocks the host for some milliseconds, and on a busy machine for many. The first in a turn of
 * the event loop starts immediately; the others follow one per turn, so that other work can run in between.
 */
const waiting: Array<() => void> = [];
let isSlotTaken = false;

/** Undefined: start now. */
export function acquireSpawnSlot(): Promise<void> | undefined {
  if (isSlotTaken) return new Promise((resolve) => waiting.push(resolve));
  isSlotTaken = true;
  setImmediate(startNext);
  return undefined;
}

function startNext(): void {
  const next = waiting.shift();
  if (next === undefined) {
    isSlotTaken = false;
    return;
  }
  next();
  setImmediate(startNext);
}
