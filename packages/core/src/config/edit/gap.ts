/** What stands between the values of a valid text: white space, comments and at most one comma. */

export interface GapToken {
  readonly kind: 'space' | 'eol' | 'line' | 'block' | 'comma';
  readonly start: number;
  readonly end: number;
}

const GAP =
  /(?<space>[ \t]+)|(?<eol>\r\n|\r|\n)|(?<line>\/\/[^\r\n]*)|(?<block>\/\*[\s\S]*?\*\/)|(?<comma>,)/y;
const KINDS = ['space', 'eol', 'line', 'block', 'comma'] as const;

/** The tokens of a stretch that holds no value. */
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

/** The tokens line by line; a comment over several lines counts for the line it starts on. */
export function gapLines(tokens: readonly GapToken[]): GapToken[][] {
  const lines: GapToken[][] = [[]];
  for (const token of tokens) {
    if (token.kind === 'eol') lines.push([]);
    else lines.at(-1)?.push(token);
  }
  return lines;
}

/**
 * Where the comments end that stand behind a value (or its comma) on the same line. Those before a further
 * value on the line are that one's.
 */
export function trailingEnd(tokens: readonly GapToken[], from: number, valueFollows: boolean): number {
  const [line = [], ...more] = gapLines(tokens.filter(({ start }) => start >= from));
  if (more.length === 0 && valueFollows) return from;
  return line.findLast(isComment)?.end ?? from;
}
