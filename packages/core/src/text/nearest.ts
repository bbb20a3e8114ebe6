/** Longer words are not typos, and the cost of comparing grows with both lengths. */
const MAX_WORD_LENGTH = 64;
/** At most this many letter pairs are compared for one word, whatever the number of candidates. */
const MAX_PAIRS = 200_000;

/** The work done, for tests and limits. */
interface NearestWork {
  pairs: number;
}

/** The candidate closest to a misspelt word, or undefined if none is close enough. */
export function nearest(
  word: string,
  candidates: Iterable<string>,
  work: NearestWork = { pairs: 0 },
): string | undefined {
  if (word.length > MAX_WORD_LENGTH) return undefined;
  const wanted = word.toLowerCase();
  let best: string | undefined;
  let bestDistance = Math.max(2, Math.floor(word.length / 3)) + 1;
  for (const candidate of candidates) {
    if (candidate.length > MAX_WORD_LENGTH || Math.abs(candidate.length - word.length) >= bestDistance)
      continue;
    if (work.pairs >= MAX_PAIRS) break;
    const distance = distanceBelow(bestDistance, [wanted, candidate.toLowerCase()], work);
    if (distance === undefined) continue;
    best = candidate;
    bestDistance = distance;
  }
  return best;
}

/** The edit distance, in which two swapped letters count as one edit; undefined if it is not below the limit. Stops at the limit. */
export function distanceBelow(
  limit: number,
  [left, right]: readonly [string, string],
  work: NearestWork = { pairs: 0 },
): number | undefined {
  let beforePrevious: readonly number[] = [];
  let previous = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let row = 1; row <= left.length; row += 1) {
    const current = new Array<number>(right.length + 1).fill(limit);
    current[0] = row;
    let least = row;
    // Further from the diagonal, the distance is at least the limit.
    const last = Math.min(right.length, row + limit - 1);
    for (let column = Math.max(1, row - limit + 1); column <= last; column += 1) {
      work.pairs += 1;
      const substitution = (previous[column - 1] ?? limit) + (left[row - 1] === right[column - 1] ? 0 : 1);
      const other = Math.min(previous[column] ?? limit, current[column - 1] ?? limit) + 1;
      const isSwapped = left[row - 1] === right[column - 2] && left[row - 2] === right[column - 1];
      const swap = isSwapped ? (beforePrevious[column - 2] ?? limit) + 1 : limit;
      const distance = Math.min(substitution, other, swap);
      current[column] = distance;
      least = Math.min(least, distance);
    }
    if (least >= limit) return undefined;
    beforePrevious = previous;
    previous = current;
  }
  const distance = previous[right.length] ?? limit;
  return distance < limit ? distance : undefined;
}
