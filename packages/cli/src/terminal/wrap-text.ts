import { displayWidth } from './display-width.js';

/** Wraps between words to this width; a longer word is not split. */
export function wrapText(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    const longer = line === '' ? word : `${line} ${word}`;
    if (line !== '' && displayWidth(longer) > width) {
      lines.push(line);
      line = word;
    } else line = longer;
  }
  return [...lines, line];
}

/** `turnbuckle`, as it is called here, and the words up to the end of the sentence. */
const COMMAND =
  /(?<![\w/.@-])(?:turnbuckle|npx @?turnbuckle\S*|node (?:'[^']*'|\S+\.[cm]?js)) (?:\S*[^\s.,;:)"] )*\S+/g;
/** Joins the words of a command, so that they stay on one line and can be copied. */
const NO_BREAK_SPACE = '\u00a0';

/**
 * Each line broken between words where the screen ends: a terminal would break it anywhere. A command is not broken. What goes
 * on is indented like the beginning, or by `indent`.
 */
export function wrapLines(text: string, width = Number.POSITIVE_INFINITY, indent?: string): string {
  return text
    .split('\n')
    .map((line) => (displayWidth(line) <= width ? line : wrapLine(line, width, indent)))
    .join('\n');
}

function wrapLine(line: string, width: number, indent: string | undefined): string {
  const lead = /^ */.exec(line)?.[0] ?? '';
  const next = indent ?? lead;
  const joined = line
    .slice(lead.length)
    .replace(COMMAND, (command) => command.replaceAll(' ', NO_BREAK_SPACE));
  const [first = '', ...rest] = wrapText(joined, width - lead.length);
  if (rest.length === 0) return line;
  const others = wrapText(rest.join(' ').trimStart(), width - next.length);
  return [lead + first, ...others.map((other) => next + other)].join('\n').replaceAll(NO_BREAK_SPACE, ' ');
}
