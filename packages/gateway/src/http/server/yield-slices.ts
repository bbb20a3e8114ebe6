/**
 * Many small tasks, each too short to be split: together they get a slice of each turn of the event loop, however many
 * connections they come from. Awaiting a resolved promise gives no other work a turn.
 */

const SLICE_MS = 8;

let sliceEndsAt: number | undefined;

/** Undefined while there is time left; otherwise what to await. Call it after each task. */
export function yieldIfSliceUsed(): Promise<void> | undefined {
  const now = performance.now();
  if (sliceEndsAt === undefined) {
    sliceEndsAt = now + SLICE_MS;
    setImmediate(startSlice);
    return undefined;
  }
  return now < sliceEndsAt ? undefined : new Promise((resolve) => setImmediate(resolve));
}

const startSlice = (): void => {
  sliceEndsAt = undefined;
};
