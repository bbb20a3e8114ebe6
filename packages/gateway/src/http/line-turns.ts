/**
 * Many small things that are done one after the other, each too short to be left half way: together they get so much of a
 * turn of the event loop, however many connections bring them. Waiting for a promise gives nobody else a turn.
 */

const TURN_MS = 8;

let endsAt: number | undefined;

/** Undefined as long as there is time; else what to wait for. To be asked after each. */
export function nextTurn(): Promise<void> | undefined {
  const now = performance.now();
  if (endsAt === undefined) {
    endsAt = now + TURN_MS;
    setImmediate(begin);
    return undefined;
  }
  return now < endsAt ? undefined : new Promise((resolve) => setImmediate(resolve));
}

const begin = (): void => {
  endsAt = undefined;
};
