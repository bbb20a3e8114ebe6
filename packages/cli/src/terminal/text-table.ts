import { displayWidth, truncateToWidth } from './display-width.js';

export interface TableOptions {
  /** Spaces between columns. */
  readonly gap?: number;
  /** How many columns the screen has: the last column is cut to what the others leave. */
  readonly width?: number;
  /** Columns that are made narrower for the last one, in this order, and how much each keeps. */
  readonly shrink?: ReadonlyArray<readonly [column: number, least: number]>;
  /** How much of the last column they make room for. */
  readonly minLastColumnWidth?: number;
  /** Of those, columns whose cells stay whole: a cell that is too wide moves the rest of its row only. */
  readonly uncutColumns?: readonly number[];
}

type Row = readonly string[];

/** A shorter text is useless. */
const MIN_CELL_WIDTH = 8;

/** Rows as aligned columns; without a width the last column is as long as it is. */
export function textTable(rows: readonly Row[], options: TableOptions = {}): string[] {
  return growingTable(options)(rows);
}

/** For rows that come little by little: columns are as wide as the widest cell so far. */
export function growingTable(options: TableOptions = {}): (rows: readonly Row[]) => string[] {
  const widths: number[] = [];
  return (given) => {
    const rows = given.map((row) => row.map(oneLine));
    for (const row of rows)
      for (const [index, cell] of row.entries())
        widths[index] = Math.max(widths[index] ?? 0, displayWidth(cell));
    const fitted = fittedWidths(widths, options);
    return rows.map((row) => formatRow(row, fitted, options));
  };
}

/** A row is a line, whatever is in its cells. */
const oneLine = (cell: string): string => cell.replace(/\s*[\r\n]\s*/g, ' ');

function fittedWidths(
  widths: readonly number[],
  {
    gap = 2,
    width = Number.POSITIVE_INFINITY,
    shrink = [],
    minLastColumnWidth = MIN_CELL_WIDTH,
  }: TableOptions,
): readonly number[] {
  const fitted = [...widths];
  const last = Math.min(widths.at(-1) ?? 0, minLastColumnWidth);
  let over = widths.slice(0, -1).reduce((sum, one) => sum + one + gap, last) - width;
  for (const [index, least] of shrink) {
    const given = Math.min(Math.max((fitted[index] ?? 0) - least, 0), Math.max(over, 0));
    fitted[index] = (fitted[index] ?? 0) - given;
    over -= given;
  }
  return fitted;
}

function formatRow(
  row: Row,
  widths: readonly number[],
  { gap = 2, width = Number.POSITIVE_INFINITY, uncutColumns = [] }: TableOptions,
): string {
  const lead = row
    .slice(0, -1)
    .map((cell, index) => {
      const column = widths[index] ?? 0;
      const shown = uncutColumns.includes(index) ? cell : truncateToWidth(cell, column);
      return shown + ' '.repeat(Math.max(column - displayWidth(shown), 0) + gap);
    })
    .join('');
  const last = row.at(-1) ?? '';
  const room = width - displayWidth(lead);
  const line = `${lead}${room < MIN_CELL_WIDTH && displayWidth(last) > room ? '' : truncateToWidth(last, room)}`;
  return truncateToWidth(line.trimEnd(), width);
}
