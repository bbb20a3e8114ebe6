/** A word as it has to be typed into a shell, for commands that are proposed. */
export const shellWord = (word: string): string =>
  /^[\w.:@%+,/-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
