import { cutToWidth, displayWidth } from './display-width.js';

export interface TableOptions {
  /** Spaces between columns. */
  readonly gap?: number;
  /** How many columns the screen has: the last column is cut to what the others leave. */
  readonly width?: number;
}

/** Less than this of a text says nothing. */
const LEAST = 8;

/** Rows as aligned columns; without a width the last column is as long as it is. */
export function textTable(
  rows: ReadonlyArray<readonly string[]>,
  { gap = 2, width = Number.POSITIVE_INFINITY }: TableOptions = {},
): string[] {
  const widths: number[] = [];
  for (const row of rows)
    for (const [index, cell] of row.entries())
      widths[index] = Math.max(widths[index] ?? 0, displayWidth(cell));
  return rows.map((row) => {
    const lead = row
      .slice(0, -1)
      .map((cell, index) => cell + ' '.repeat((widths[index] ?? 0) - displayWidth(cell) + gap))
      .join('');
    const last = row.at(-1) ?? '';
    const room = width - displayWidth(lead);
    return `${lead}${room < LEAST && displayWidth(last) > room ? '' : cutToWidth(last, room)}`.trimEnd();
  });
}
