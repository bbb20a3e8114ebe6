/** Quotes a word for a shell, for suggested commands. */
export const shellQuote = (word: string): string =>
  /^[\w.:@%+,/-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
