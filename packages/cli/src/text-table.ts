/** Rows as aligned columns; the last column is as long as it is. */
export function textTable(rows: ReadonlyArray<readonly string[]>, gap = 2): string[] {
  const widths: number[] = [];
  for (const row of rows)
    for (const [index, cell] of row.entries())
      widths[index] = Math.max(widths[index] ?? 0, visibleLength(cell));
  return rows.map((row) =>
    row
      .map((cell, index) =>
        index === row.length - 1 ? cell : cell + ' '.repeat((widths[index] ?? 0) - visibleLength(cell) + gap),
      )
      .join('')
      .trimEnd(),
  );
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: colour codes take no room on the screen
const COLOUR = /\u001b\[[0-9;]*m/g;

const visibleLength = (text: string): number => [...text.replace(COLOUR, '')].length;
