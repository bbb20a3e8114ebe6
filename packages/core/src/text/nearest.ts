/** Longer ones are nobody's slip of the finger, and comparing them takes a time that grows with both lengths. */
const MAX_LENGTH = 64;
/** So many pairs of letters are compared for one word, whatever there is to compare it with. */
const MAX_PAIRS = 200_000;

/** What was done to find one, for who wants to know. */
interface NearestWork {
  pairs: number;
}

/** The candidate closest to a misspelt word, or undefined when none is close enough to be meant. */
export function nearest(
  word: string,
  candidates: Iterable<string>,
  work: NearestWork = { pairs: 0 },
): string | undefined {
  if (word.length > MAX_LENGTH) return undefined;
  const wanted = word.toLowerCase();
  let best: string | undefined;
  let bestDistance = Math.max(2, Math.floor(word.length / 3)) + 1;
  for (const candidate of candidates) {
    if (candidate.length > MAX_LENGTH || Math.abs(candidate.length - word.length) >= bestDistance) continue;
    if (work.pairs >= MAX_PAIRS) break;
    const distance = distanceBelow(bestDistance, [wanted, candidate.toLowerCase()], work);
    if (distance === undefined) continue;
    best = candidate;
    bestDistance = distance;
  }
  return best;
}

/** How many letters are to be changed; undefined when they are not fewer than the limit. Looks no further than that. */
function distanceBelow(
  limit: number,
  [left, right]: readonly [string, string],
  work: NearestWork,
): number | undefined {
  let previous = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let row = 1; row <= left.length; row += 1) {
    const current = new Array<number>(right.length + 1).fill(limit);
    current[0] = row;
    let least = row;
    // Further from the diagonal there are at least as many letters to add or to leave out.
    const last = Math.min(right.length, row + limit - 1);
    for (let column = Math.max(1, row - limit + 1); column <= last; column += 1) {
      work.pairs += 1;
      const substitution = (previous[column - 1] ?? limit) + (left[row - 1] === right[column - 1] ? 0 : 1);
      const other = Math.min(previous[column] ?? limit, current[column - 1] ?? limit) + 1;
      const distance = Math.min(substitution, other);
      current[column] = distance;
      least = Math.min(least, distance);
    }
    if (least >= limit) return undefined;
    previous = current;
  }
  const distance = previous[right.length] ?? limit;
  return distance < limit ? distance : undefined;
}
