// The output of the tour: 78 columns, colours only on a terminal that supports them.
const WIDTH = 78;
const coloured = process.stdout.isTTY === true && !process.env.NO_COLOR && process.env.TERM !== 'dumb';

/** @param {number} code */
const paint = (code) => (/** @type {string} */ text) => (coloured ? `\u001b[${code}m${text}\u001b[0m` : text);
export const bold = paint(1);
export const dim = paint(2);
export const red = paint(31);
export const green = paint(32);
export const yellow = paint(33);
export const cyan = paint(36);

/** @param {string} text */
export function heading(text) {
  console.log(`\n${bold(cyan(text))}`);
}

/**
 * Prints a paragraph, indented and wrapped between words.
 * @param {string} text
 * @param {(text: string) => string} [style]
 */
export function paragraph(text, style = (line) => line) {
  let line = '';
  for (const word of text.split(/\s+/)) {
    if (line !== '' && line.length + word.length + 3 > WIDTH) {
      console.log(`  ${style(line)}`);
      line = '';
    }
    line = line === '' ? word : `${line} ${word}`;
  }
  if (line !== '') console.log(`  ${style(line)}`);
}

/**
 * Prints rows in columns; the last column is cut at the width.
 * @param {readonly (readonly string[])[]} rows
 * @param {(cell: string, column: number, row: number) => string} [style]
 */
export function table(rows, style = (cell) => cell) {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => (row[column] ?? '').length)),
  );
  rows.forEach((row, at) => {
    let used = 2;
    const cells = row.map((cell, column) => {
      const last = column === row.length - 1;
      const text = last ? cut(cell, WIDTH - used) : cell.padEnd(widths[column] ?? 0);
      used += text.length + 2;
      return style(text, column, at);
    });
    console.log(`  ${cells.join('  ').trimEnd()}`);
  });
}

/**
 * One line of at most `length` characters.
 * @param {string} text
 * @param {number} length
 */
function cut(text, length) {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length <= length ? line : `${line.slice(0, Math.max(0, length - 1))}…`;
}
