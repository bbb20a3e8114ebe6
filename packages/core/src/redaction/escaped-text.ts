/**
 * Texts with needlessly escaped letters and digits: `%41`, `\u0041`, `\x41`, `&#65;`. Known secrets are searched in
 * the unescaped text.
 */

/** A letter or digit, or a backslash by its number; other characters are escaped in ordinary texts too. */
const NEEDLESS_ESCAPE =
  /%(?:25)*(?:3\d|[46][1-9a-f]|[57][\da])|\\(?:u00|x)(?:3\d|[46][1-9a-f]|[57][\da]|5c)|&#(?:x0*(?:3\d|[46][1-9a-f]|[57][\da])|0*(?:4[89]|5[0-7]|6[5-9]|[78]\d|90|9[7-9]|1[01]\d|12[0-2]));/i;
/** Any printable ASCII character. A run of backslashes is read from its beginning, once, however long it is. */
const ESCAPED =
  /%(?:25)*([2-7][\da-f])|(?<!\\)\\{1,7}(?:u00|x)([2-7][\da-f])|&#x0*([2-7][\da-f]);|&#0*(3[2-9]|[4-9]\d|1[01]\d|12[0-6]);/gi;

export interface UnescapedText {
  readonly text: string;
  /** The index in the original text of a character in the unescaped one. */
  originalIndex(at: number): number;
}

/** The text with all of them replaced; undefined if there are none, which is usual. */
export function unescapeText(text: string): UnescapedText | undefined {
  if (!(text.includes('%') || text.includes('\\') || text.includes('&#')) || !NEEDLESS_ESCAPE.test(text))
    return undefined;
  let made = '';
  let end = 0;
  /** For each replacement: its new position, and how much shorter the text is from there on. */
  const places: number[] = [];
  const shorter: number[] = [];
  for (const match of text.matchAll(ESCAPED)) {
    const [whole, percent, unicode, hex, decimal = ''] = match;
    const code = percent ?? unicode ?? hex;
    made += text.slice(end, match.index);
    made += String.fromCharCode(code === undefined ? Number(decimal) : Number.parseInt(code, 16));
    end = match.index + whole.length;
    places.push(made.length);
    shorter.push(end - made.length);
  }
  return { text: made + text.slice(end), originalIndex: (at) => at + (shorter[lastUpTo(places, at)] ?? 0) };
}

/** The index of the last of these ascending numbers that is not above the limit; -1 if all are. */
function lastUpTo(numbers: readonly number[], max: number): number {
  let [low, high] = [0, numbers.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((numbers[middle] ?? 0) <= max) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}
