/**
 * Starting a process holds up the whole host for some milliseconds, and a busy machine for many. Whoever comes first in
 * a turn of the event loop starts at once; the others follow one in a turn, so that everybody else is heard in between.
 */
const waiting: Array<() => void> = [];
let isTaken = false;

/** Undefined: it is your turn. */
export function takeTurn(): Promise<void> | undefined {
  if (isTaken) return new Promise((resolve) => waiting.push(resolve));
  isTaken = true;
  setImmediate(passOn);
  return undefined;
}

function passOn(): void {
  const next = waiting.shift();
  if (next === undefined) {
    isTaken = false;
    return;
  }
  next();
  setImmediate(passOn);
}
