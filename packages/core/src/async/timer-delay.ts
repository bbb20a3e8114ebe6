/** Longer delays overflow a timer, which then rings at once, and again, and again. */
export const MAX_TIMER_MS = 2 ** 31 - 1;

/** A delay that came from outside, as a timer can take it; what is no number is no delay. */
export function timerDelay(ms: number, { minMs = 0, maxMs = MAX_TIMER_MS } = {}): number {
  if (Number.isNaN(ms)) return minMs;
  return Math.min(Math.max(ms, minMs), Math.min(maxMs, MAX_TIMER_MS));
}
