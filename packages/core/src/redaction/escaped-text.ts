/**
 * Texts in which letters and digits are escaped, which nobody needs to do: `%41`, `\u0041`, `\x41`, `&#65;`. What is known
 * by its letters is looked for in what they come to.
 */

/** A letter or digit, or a backslash by its number; what else there is is escaped in ordinary texts, too. */
const NEEDLESS =
  /%(?:25)*(?:3\d|[46][1-9a-f]|[57][\da])|\\(?:u00|x)(?:3\d|[46][1-9a-f]|[57][\da]|5c)|&#(?:x0*(?:3\d|[46][1-9a-f]|[57][\da])|0*(?:4[89]|5[0-7]|6[5-9]|[78]\d|90|9[7-9]|1[01]\d|12[0-2]));/i;
/** Any character of ASCII that can be seen. A row of backslashes is read from its beginning: once, however long it is. */
const ESCAPED =
  /%(?:25)*([2-7][\da-f])|(?<!\\)\\{1,7}(?:u00|x)([2-7][\da-f])|&#x0*([2-7][\da-f]);|&#0*(3[2-9]|[4-9]\d|1[01]\d|12[0-6]);/gi;

export interface Unescaped {
  readonly text: string;
  /** Where a character of it stands in the text that it was made of. */
  place(at: number): number;
}

/** The text with all of them replaced; undefined where there is none, which is nearly always. */
export function unescaped(text: string): Unescaped | undefined {
  if (!(text.includes('%') || text.includes('\\') || text.includes('&#')) || !NEEDLESS.test(text))
    return undefined;
  let made = '';
  let end = 0;
  /** Of each that was replaced: where it is now, and how much shorter the text is from there on. */
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
  return { text: made + text.slice(end), place: (at) => at + (shorter[lastUpTo(places, at)] ?? 0) };
}

/** The last of these numbers, which grow, that is not above; -1 when all are. */
function lastUpTo(numbers: readonly number[], max: number): number {
  let [low, high] = [0, numbers.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((numbers[middle] ?? 0) <= max) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}
