/** Longer delays overflow a timer, which then fires immediately. */
export const MAX_TIMER_MS = 2 ** 31 - 1;

/** An untrusted delay, clamped to what a timer supports; anything but a number is no delay. */
export function timerDelay(ms: number, { minMs = 0, maxMs = MAX_TIMER_MS } = {}): number {
  if (Number.isNaN(ms)) return minMs;
  return Math.min(Math.max(ms, minMs), Math.min(maxMs, MAX_TIMER_MS));
}
