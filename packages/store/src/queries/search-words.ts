/** The words of a search. Each costs a pass over the index, so their number is limited. */

const MAX_WORDS = 16;
const MAX_CHARACTERS = 256;

/** Why a search is invalid; undefined if it is valid. */
export function searchFault(text: string): string | undefined {
  if (text.length > MAX_CHARACTERS)
    return `expected at most ${MAX_CHARACTERS} characters, got ${text.length}`;
  const { length } = searchWords(text);
  return length > MAX_WORDS ? `expected at most ${MAX_WORDS} different words, got ${length}` : undefined;
}

/** As an SQLite query. Each word is quoted, so that none is parsed as query syntax. Empty: no words. */
export const toFtsQuery = (text: string): string =>
  searchWords(text)
    .slice(0, MAX_WORDS)
    .map((word) => `"${word}"*`)
    .join(' ');

/** Each word once; a word that is a prefix of another is covered by it. */
function searchWords(text: string): readonly string[] {
  const words = text.match(/[\p{L}\p{M}\p{N}_]+/gu) ?? [];
  const known = new Set(words.filter((word) => /[\p{L}\p{N}]/u.test(word)));
  // Sorted, words with a given prefix come right after it.
  const sorted = [...known].sort();
  const covered = new Set(sorted.filter((word, at) => sorted[at + 1]?.startsWith(word)));
  return [...known].filter((word) => !covered.has(word));
}
