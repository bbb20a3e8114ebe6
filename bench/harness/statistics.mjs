/**
 * The quantile of the samples, interpolated; NaN without samples.
 * @param {readonly number[]} samples
 * @param {number} share between 0 and 1
 */
export function quantile(samples, share) {
  const ordered = Float64Array.from(samples).sort();
  const position = (ordered.length - 1) * share;
  const low = ordered[Math.floor(position)] ?? Number.NaN;
  const high = ordered[Math.ceil(position)] ?? Number.NaN;
  return low + (high - low) * (position - Math.floor(position));
}

/** @param {readonly number[]} samples */
export const median = (samples) => quantile(samples, 0.5);

/**
 * A copy in random order.
 * @template T
 * @param {readonly T[]} items
 */
export function shuffle(items) {
  const copy = [...items];
  for (let last = copy.length - 1; last > 0; last--) {
    const other = Math.floor(Math.random() * (last + 1));
    const kept = /** @type {T} */ (copy[last]);
    copy[last] = /** @type {T} */ (copy[other]);
    copy[other] = kept;
  }
  return copy;
}
