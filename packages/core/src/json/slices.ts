/** Runs long work in short slices, so that other work gets a turn in between. */

/** Work that can be suspended and resumed at each `yield`; its return value is the result. */
export type Steps<Result> = Generator<void, Result, void>;

/** Texts up to this many characters are parsed in one go: that takes a few milliseconds. */
export const LARGE_TEXT_LENGTH = 256 * 1_024;

/** This share of a turn of the event loop goes to long work, however much of it there is. */
const BUDGET_PER_TURN_MS = 8;
/** After this long, the next work gets its turn. */
const SLICE_MS = 2;

/** Texts up to this many characters are always parsed in one go, however many there are. */
export const SMALL_TEXT_LENGTH = 16 * 1_024;
/** This many characters of longer texts are parsed in one go before other work gets a turn. */
const MAX_CHARACTERS_PER_TURN = 1_024 * 1_024;
let charactersThisTurn = 0;

/** True if parsing this much more would be too much for one turn; otherwise it counts as parsed. */
export function exceedsTurnBudget(length: number): boolean {
  if (charactersThisTurn + length > MAX_CHARACTERS_PER_TURN) return true;
  if (charactersThisTurn === 0)
    setImmediate(() => {
      charactersThisTurn = 0;
    });
  charactersThisTurn += length;
  return false;
}

interface Job {
  /** Works until the deadline. True: it is finished. */
  advance(until: number): boolean;
}

const queue: Job[] = [];
let remainingMs = BUDGET_PER_TURN_MS;
let isTurnCounted = false;

/** Runs the work in slices, alternating with other such work. Rejects with whatever the work throws. */
export async function inSlices<Result>(steps: Steps<Result>): Promise<Result> {
  if (queue.length === 0 && remainingMs > 0) {
    const ended = spend(remainingMs, (until) => advance(steps, until));
    if (ended !== undefined) return ended.value;
  }
  return new Promise((resolve, reject) => {
    queue.push({
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
    scheduleTurn();
  });
}

/** Runs the work now, within this turn. True: no time is left, and further work should wait for the next turn. */
export function spendTurn(work: () => void): boolean {
  spend(remainingMs, work);
  return remainingMs <= 0;
}

/** The result of the work, or undefined if it has to continue later. */
function advance<Result>(steps: Steps<Result>, until: number): { readonly value: Result } | undefined {
  do {
    const { done, value } = steps.next();
    if (done === true) return { value };
  } while (performance.now() < until);
  return undefined;
}

/** Deducts the duration of the work from the time of this turn. */
function spend<Result>(ms: number, work: (until: number) => Result): Result {
  const begun = performance.now();
  scheduleTurn();
  try {
    return work(begun + ms);
  } finally {
    remainingMs -= performance.now() - begun;
  }
}

function scheduleTurn(): void {
  if (isTurnCounted) return;
  isTurnCounted = true;
  setImmediate(runTurn);
}

function runTurn(): void {
  isTurnCounted = false;
  remainingMs = BUDGET_PER_TURN_MS;
  while (remainingMs > 0) {
    const job = queue.shift();
    if (job === undefined) return;
    if (!spend(Math.min(SLICE_MS, remainingMs), (until) => job.advance(until))) queue.push(job);
  }
  if (queue.length > 0) scheduleTurn();
}

/** A list of what each item becomes. */
export function* mapSteps<Item, Result>(
  items: readonly Item[],
  change: (item: Item, index: number) => Result,
): Steps<Result[]> {
  const results: Result[] = [];
  for (const [index, item] of items.entries()) {
    results.push(change(item, index));
    yield;
  }
  return results;
}

/** Work that cannot be suspended. */
// biome-ignore lint/correctness/useYield: it has one step.
export function* inOneStep<Result>(work: () => Result): Steps<Result> {
  return work();
}

/** Runs it in one go. */
export function runToEnd<Result>(steps: Steps<Result>): Result {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}
