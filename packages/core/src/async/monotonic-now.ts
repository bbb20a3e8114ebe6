/**
 * The clock for durations: it never goes back, and nobody can set it. `Date.now` is for timestamps only: set back one
 * hour, it makes every wait one hour longer. In whole milliseconds, since differences are shown.
 */
export const monotonicNow = (): number => Math.floor(performance.now());
