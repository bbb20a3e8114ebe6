/** The lines that a change takes out and puts in, with a little of what is around them. */
const CONTEXT = 2;

export interface DiffLine {
  /** `…` stands for lines that are left out. */
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
  return nearChanges([
    ...same(old.slice(0, head)),
    ...compare(old.slice(head, old.length - tail), fresh.slice(head, fresh.length - tail)),
    ...same(old.slice(old.length - tail)),
  ]);
}

const same = (lines: readonly string[]): DiffLine[] => lines.map((text) => ({ sign: ' ', text }));

function compare(old: readonly string[], fresh: readonly string[]): DiffLine[] {
  const table = longestCommon(old, fresh);
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

function longestCommon(old: readonly string[], fresh: readonly string[]): Uint32Array[] {
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

function nearChanges(lines: readonly DiffLine[]): DiffLine[] {
  let last: number | undefined;
  return lines.flatMap((line, index) => {
    const around = lines.slice(Math.max(index - CONTEXT, 0), index + CONTEXT + 1);
    if (around.every(({ sign }) => sign === ' ')) return [];
    const isAfterGap = last !== undefined && last < index - 1;
    last = index;
    return isAfterGap ? [{ sign: '…', text: '' } as const, line] : [line];
  });
}
