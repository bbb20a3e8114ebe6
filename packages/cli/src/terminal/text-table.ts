import { cutToWidth, displayWidth } from './display-width.js';

export interface TableOptions {
  /** Spaces between columns. */
  readonly gap?: number;
  /** How many columns the screen has: the last column is cut to what the others leave. */
  readonly width?: number;
  /** Columns that are made narrower for the last one, in this order, and how much each keeps. */
  readonly shrink?: ReadonlyArray<readonly [column: number, least: number]>;
  /** How much of the last column they make room for. */
  readonly room?: number;
  /** Of those, columns whose cells stay whole: a cell that is too wide moves the rest of its row only. */
  readonly whole?: readonly number[];
}

type Row = readonly string[];

/** Less than this of a text says nothing. */
const LEAST = 8;

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
    return rows.map((row) => lineOf(row, fitted, options));
  };
}

/** A row is a line, whatever is in its cells. */
const oneLine = (cell: string): string => cell.replace(/\s*[\r\n]\s*/g, ' ');

function fittedWidths(
  widths: readonly number[],
  { gap = 2, width = Number.POSITIVE_INFINITY, shrink = [], room = LEAST }: TableOptions,
): readonly number[] {
  const fitted = [...widths];
  const last = Math.min(widths.at(-1) ?? 0, room);
  let over = widths.slice(0, -1).reduce((sum, one) => sum + one + gap, last) - width;
  for (const [index, least] of shrink) {
    const given = Math.min(Math.max((fitted[index] ?? 0) - least, 0), Math.max(over, 0));
    fitted[index] = (fitted[index] ?? 0) - given;
    over -= given;
  }
  return fitted;
}

function lineOf(
  row: Row,
  widths: readonly number[],
  { gap = 2, width = Number.POSITIVE_INFINITY, whole = [] }: TableOptions,
): string {
  const lead = row
    .slice(0, -1)
    .map((cell, index) => {
      const column = widths[index] ?? 0;
      const shown = whole.includes(index) ? cell : cutToWidth(cell, column);
      return shown + ' '.repeat(Math.max(column - displayWidth(shown), 0) + gap);
    })
    .join('');
  const last = row.at(-1) ?? '';
  const room = width - displayWidth(lead);
  const line = `${lead}${room < LEAST && displayWidth(last) > room ? '' : cutToWidth(last, room)}`;
  return cutToWidth(line.trimEnd(), width);
}
