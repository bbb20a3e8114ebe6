/** What a search looks for. Each word costs a pass over what all words begin with, so there are not many. */

const MAX_WORDS = 16;
const MAX_CHARACTERS = 256;

/** What is wrong with a search, to be told before it is made; undefined when it can be made. */
export function searchFault(text: string): string | undefined {
  if (text.length > MAX_CHARACTERS)
    return `a search has at most ${MAX_CHARACTERS} characters, this one ${text.length}`;
  const { length } = searchWords(text);
  return length > MAX_WORDS
    ? `a search has at most ${MAX_WORDS} different words, this one ${length}`
    : undefined;
}

/** As SQLite wants it. Each word in quotes: nothing of it is understood as a query language. Empty: no word. */
export const toMatch = (text: string): string =>
  searchWords(text)
    .slice(0, MAX_WORDS)
    .map((word) => `"${word}"*`)
    .join(' ');

/** Each once; and what another one begins with is found with that. */
function searchWords(text: string): readonly string[] {
  const words = text.match(/[\p{L}\p{M}\p{N}_]+/gu) ?? [];
  const known = new Set(words.filter((word) => /[\p{L}\p{N}]/u.test(word)));
  // Sorted, whatever begins with a word is right behind it.
  const sorted = [...known].sort();
  const covered = new Set(sorted.filter((word, at) => sorted[at + 1]?.startsWith(word)));
  return [...known].filter((word) => !covered.has(word));
}
