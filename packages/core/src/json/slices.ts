/** Long work in short slices: everybody else gets a turn in between. */

/** Work that can be left and taken up again at each `yield`; its result is what it returns. */
export type Steps<Result> = Generator<void, Result, void>;

/** Texts up to this many characters are read at once: that takes some milliseconds. */
export const LARGE_TEXT = 256 * 1_024;

/** So much of a turn of the event loop goes to long work, however much of it there is. */
const TURN_MS = 8;
/** After so long it is the next one's time. */
const SLICE_MS = 2;

/** Texts up to this many characters are always read at once, however many come. */
export const PLAIN_TEXT = 16 * 1_024;
/** Of longer ones, so many characters are read at once before others get a turn. */
const MAX_OF_TURN = 1_024 * 1_024;
let ofTurn = 0;

/** This much more, read at once, would be too much for one turn; else it counts as read. */
export function takesTooLong(length: number): boolean {
  if (ofTurn + length > MAX_OF_TURN) return true;
  if (ofTurn === 0)
    setImmediate(() => {
      ofTurn = 0;
    });
  ofTurn += length;
  return false;
}

interface Job {
  /** Works until then. True: it has ended. */
  advance(until: number): boolean;
}

const waiting: Job[] = [];
let leftMs = TURN_MS;
let isTurnCounted = false;

/** Does it in slices, in turn with other such work. Rejects with what the work throws. */
export async function inSlices<Result>(steps: Steps<Result>): Promise<Result> {
  if (waiting.length === 0 && leftMs > 0) {
    const ended = spend(leftMs, (until) => advance(steps, until));
    if (ended !== undefined) return ended.value;
  }
  return new Promise((resolve, reject) => {
    waiting.push({
      advance: (until) => {
        try {
          const ended = advance(steps, until);
          if (ended !== undefined) resolve(ended.value);
          return ended !== undefined;
        } catch (thrown) {
          reject(thrown);
          return true;
        }
      },
    });
    countTurn();
  });
}

/** Does it now, in the time of this turn. True: there is none left, and what more there is better waits for the next. */
export function spendTurn(work: () => void): boolean {
  spend(leftMs, work);
  return leftMs <= 0;
}

/** What came of the work, or undefined when it has to go on later. */
function advance<Result>(steps: Steps<Result>, until: number): { readonly value: Result } | undefined {
  do {
    const { done, value } = steps.next();
    if (done === true) return { value };
  } while (performance.now() < until);
  return undefined;
}

/** Takes the time of the work off what this turn has. */
function spend<Result>(ms: number, work: (until: number) => Result): Result {
  const begun = performance.now();
  countTurn();
  try {
    return work(begun + ms);
  } finally {
    leftMs -= performance.now() - begun;
  }
}

function countTurn(): void {
  if (isTurnCounted) return;
  isTurnCounted = true;
  setImmediate(nextTurn);
}

function nextTurn(): void {
  isTurnCounted = false;
  leftMs = TURN_MS;
  while (leftMs > 0) {
    const job = waiting.shift();
    if (job === undefined) return;
    if (!spend(Math.min(SLICE_MS, leftMs), (until) => job.advance(until))) waiting.push(job);
  }
  if (waiting.length > 0) countTurn();
}

/** Work that cannot be left half way. */
// biome-ignore lint/correctness/useYield: it has one step.
export function* inOneStep<Result>(work: () => Result): Steps<Result> {
  return work();
}

/** Does it at once. */
export function atOnce<Result>(steps: Steps<Result>): Result {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}
