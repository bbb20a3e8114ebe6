/** Measures how long something runs, in parts of bounded length. */

const PART_MS = 2_000;

/** Tells each part when it has passed; the function that it returns tells the last one. */
export function meter(tell: (ms: number, isLast: boolean) => void): () => void {
  let since = performance.now();
  const next = (isLast: boolean): void => {
    const now = performance.now();
    tell(now - since, isLast);
    since = now;
  };
  const timer = setInterval(() => next(false), PART_MS);
  return () => {
    clearInterval(timer);
    next(true);
  };
}
