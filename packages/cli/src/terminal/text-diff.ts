/** The lines that a change removes and adds, with some context. */
const CONTEXT_LINES = 2;

export interface DiffLine {
  /** `…` marks omitted lines. */
  readonly sign: '+' | '-' | ' ' | '…';
  readonly text: string;
}

/** What both texts share at the ends is not compared: files of other tools can be long, and changes are small. */
export function textDiff(before: string, after: string): DiffLine[] {
  const old = before.split('\n');
  const fresh = after.split('\n');
  const least = Math.min(old.length, fresh.length);
  let head = 0;
  while (head < least && old[head] === fresh[head]) head += 1;
  let tail = 0;
  while (tail < least - head && old.at(-1 - tail) === fresh.at(-1 - tail)) tail += 1;
  return keepNearChanges([
    ...unchanged(old.slice(0, head)),
    ...compare(old.slice(head, old.length - tail), fresh.slice(head, fresh.length - tail)),
    ...unchanged(old.slice(old.length - tail)),
  ]);
}

const unchanged = (lines: readonly string[]): DiffLine[] => lines.map((text) => ({ sign: ' ', text }));

function compare(old: readonly string[], fresh: readonly string[]): DiffLine[] {
  const table = lcsTable(old, fresh);
  const lines: DiffLine[] = [];
  let [row, column] = [0, 0];
  while (row < old.length || column < fresh.length) {
    if (row < old.length && column < fresh.length && old[row] === fresh[column]) {
      lines.push({ sign: ' ', text: old[row] ?? '' });
      row += 1;
      column += 1;
    } else if (
      column < fresh.length &&
      (row >= old.length || (table[row]?.[column + 1] ?? 0) > (table[row + 1]?.[column] ?? 0))
    ) {
      lines.push({ sign: '+', text: fresh[column] ?? '' });
      column += 1;
    } else {
      lines.push({ sign: '-', text: old[row] ?? '' });
      row += 1;
    }
  }
  return lines;
}

function lcsTable(old: readonly string[], fresh: readonly string[]): Uint32Array[] {
  const table = Array.from({ length: old.length + 1 }, () => new Uint32Array(fresh.length + 1));
  for (let row = old.length - 1; row >= 0; row -= 1) {
    for (let column = fresh.length - 1; column >= 0; column -= 1) {
      const here = table[row];
      if (here === undefined) continue;
      here[column] =
        old[row] === fresh[column]
          ? (table[row + 1]?.[column + 1] ?? 0) + 1
          : Math.max(table[row + 1]?.[column] ?? 0, here[column + 1] ?? 0);
    }
  }
  return table;
}

function keepNearChanges(lines: readonly DiffLine[]): DiffLine[] {
  let last: number | undefined;
  return lines.flatMap((line, index) => {
    const around = lines.slice(Math.max(index - CONTEXT_LINES, 0), index + CONTEXT_LINES + 1);
    if (around.every(({ sign }) => sign === ' ')) return [];
    const isAfterGap = last !== undefined && last < index - 1;
    last = index;
    return isAfterGap ? [{ sign: '…', text: '' } as const, line] : [line];
  });
}
