/** Small plots made of characters. */

const VERTICAL_BLOCKS = ' ▁▂▃▄▅▆▇█';
const PARTIAL_BLOCKS = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];

/** One character for each value; the largest is the highest, and whatever is more than nothing is seen. */
export function sparkline(values: readonly number[]): string {
  const most = Math.max(0, ...values);
  return values
    .map((value) => {
      if (!(value > 0) || most === 0) return ' ';
      return VERTICAL_BLOCKS[Math.max(Math.round((value / most) * 8), 1)] ?? ' ';
    })
    .join('');
}

/** A bar as long as the value's share of the most; whatever is more than nothing is seen. */
export function bar(value: number, most: number, width: number): string {
  if (!(value > 0) || !(most > 0) || width < 1) return '';
  const eighths = Math.max(Math.round(Math.min(value / most, 1) * Math.floor(width) * 8), 1);
  return '█'.repeat(eighths >> 3) + (PARTIAL_BLOCKS[eighths & 7] ?? '');
}

/** Values by time in equal spans from `from` on; what is not there is nothing. */
export function toBuckets(
  points: ReadonlyArray<{ readonly at: number; readonly value: number }>,
  { from, spanMs, count }: { readonly from: number; readonly spanMs: number; readonly count: number },
): number[] {
  const spans = Array.from({ length: count }, () => 0);
  for (const { at, value } of points) {
    const place = Math.min(Math.max(Math.floor((at - from) / spanMs), 0), count - 1);
    spans[place] = (spans[place] ?? 0) + value;
  }
  return spans;
}
