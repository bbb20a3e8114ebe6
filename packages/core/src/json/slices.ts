/** Long work in short slices: everybody else gets a turn in between. */

/** Work that can be left and taken up again at each `yield`; its result is what it returns. */
export type Steps<Result> = Generator<void, Result, void>;

/** Texts up to this many characters are read at once: that takes some milliseconds. */
export const LARGE_TEXT = 256 * 1_024;

/** Longer than that nobody has to wait for one slice. */
const SLICE_MS = 8;

/** Does it in slices. Rejects with what the work throws. */
export async function inSlices<Result>(steps: Steps<Result>): Promise<Result> {
  let until = performance.now() + SLICE_MS;
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
    if (performance.now() < until) continue;
    await new Promise((resolve) => setImmediate(resolve));
    until = performance.now() + SLICE_MS;
  }
}

/** Does it at once. */
export function atOnce<Result>(steps: Steps<Result>): Result {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}
