/** Runs work one after the other, in the order in which it was given. */
export type SerialQueue = <Result>(work: () => Result | Promise<Result>) => Promise<Result>;

/** Work that fails rejects for its caller only; the next one runs all the same. */
export function createSerialQueue(): SerialQueue {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const next = last.then(work);
    last = next.catch(() => {});
    return next;
  };
}
