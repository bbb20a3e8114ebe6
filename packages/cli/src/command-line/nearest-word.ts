/** The closest candidate; undefined when none is close enough. */
export function nearestWord(word: string, candidates: readonly string[]): string | undefined {
  const most = Math.max(1, Math.floor(word.length / 3));
  const ranked = candidates
    .map((candidate) => ({ candidate, distance: distance(word.toLowerCase(), candidate.toLowerCase()) }))
    .sort((left, right) => left.distance - right.distance);
  const [best] = ranked;
  return best !== undefined && best.distance <= most && best.distance < word.length
    ? best.candidate
    : undefined;
}

/** Edit distance; a transposition counts once. */
function distance(left: string, right: string): number {
  const rows: number[][] = [Array.from({ length: right.length + 1 }, (_, index) => index)];
  const at = (row: number, column: number): number => rows[row]?.[column] ?? 0;
  for (let row = 1; row <= left.length; row += 1) {
    rows.push([row]);
    for (let column = 1; column <= right.length; column += 1) {
      const same = left[row - 1] === right[column - 1];
      const swapped =
        row > 1 && column > 1 && left[row - 1] === right[column - 2] && left[row - 2] === right[column - 1];
      const cost = Math.min(
        at(row - 1, column) + 1,
        at(row, column - 1) + 1,
        at(row - 1, column - 1) + (same ? 0 : 1),
        swapped ? at(row - 2, column - 2) + 1 : Number.POSITIVE_INFINITY,
      );
      rows[row]?.push(cost);
    }
  }
  return at(left.length, right.length);
}
