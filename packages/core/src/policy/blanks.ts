/** Characters that some language removes at both ends of a text, such as JavaScript, Python, Go, Java and .NET. */
const BLANKS = String.raw`\u0000-\u0020\u0085\u00a0\u1680\u180e\u2000-\u200b\u2028\u2029\u202f\u205f\u3000\ufeff`;
const BLANK = new RegExp(`[${BLANKS}]`);

/** At either end. */
export const HAS_OUTER_BLANK = new RegExp(`^[${BLANKS}]|[${BLANKS}]$`);

/** A regular expression anchored at the end would restart at each run of them in the middle. */
export function trimBlanks(text: string): string {
  let [start, end] = [0, text.length];
  while (end > 0 && BLANK.test(text.charAt(end - 1))) end -= 1;
  while (start < end && BLANK.test(text.charAt(start))) start += 1;
  return text.slice(start, end);
}
