/** The text between values: white space, comments and at most one comma. */

export interface GapToken {
  readonly kind: 'space' | 'eol' | 'line' | 'block' | 'comma';
  readonly start: number;
  readonly end: number;
}

const GAP =
  /(?<space>[ \t]+)|(?<eol>\r\n|\r|\n)|(?<line>\/\/[^\r\n]*)|(?<block>\/\*[\s\S]*?\*\/)|(?<comma>,)/y;
const KINDS = ['space', 'eol', 'line', 'block', 'comma'] as const;

/** The tokens of a range without values. */
export function gapTokens(text: string, from: number, to: number): GapToken[] {
  const tokens: GapToken[] = [];
  let start = from;
  while (start < to) {
    GAP.lastIndex = start;
    const match = GAP.exec(text);
    const kind = KINDS.find((name) => match?.groups?.[name] !== undefined);
    if (match === null || kind === undefined) break;
    tokens.push({ kind, start, end: start + match[0].length });
    start += match[0].length;
  }
  return tokens;
}

export const isComment = ({ kind }: GapToken): boolean => kind === 'line' || kind === 'block';

export const isComma = ({ kind }: GapToken): boolean => kind === 'comma';

/** The tokens by line; a multi-line comment counts for the line it starts on. */
export function gapLines(tokens: readonly GapToken[]): GapToken[][] {
  const lines: GapToken[][] = [[]];
  for (const token of tokens) {
    if (token.kind === 'eol') lines.push([]);
    else lines.at(-1)?.push(token);
  }
  return lines;
}

/**
 * The end of the comments after a value (or its comma) on the same line. Comments before a further value on the line
 * belong to that value.
 */
export function trailingEnd(tokens: readonly GapToken[], from: number, valueFollows: boolean): number {
  const [line = [], ...more] = gapLines(tokens.filter(({ start }) => start >= from));
  if (more.length === 0 && valueFollows) return from;
  return line.findLast(isComment)?.end ?? from;
}

/**
 * The start of the comments that belong to the value after the gap: those before it on its line, and directly above.
 */
export function attachedStart(before: readonly GapToken[], offset: number, hasPrevious: boolean): number {
  const lines = gapLines(before.slice(before.findIndex(isComma) + 1));
  const above = lines.slice(0, -1);
  let start = offset;
  if (hasPrevious || above.length > 0) start = lines.at(-1)?.find(isComment)?.start ?? start;
  // The first line is the one on which the previous value ends or the container starts.
  for (const line of above.slice(1).reverse()) {
    const comment = line.find(isComment);
    if (comment === undefined) break;
    start = comment.start;
  }
  return start;
}
