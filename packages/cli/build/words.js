/** The words of a command line: the ones it needs, or an error that says which is missing. */
import { TurnbuckleError } from 'turnbuckle';
export function needWord({ words }, index, name) {
  const word = words[index];
  if (word === undefined)
    throw new TurnbuckleError('ARGUMENTS_INVALID', `The ${name} is missing.`, {
      hint: 'The command with --help shows its arguments.',
    });
  return word;
}
/** `key=value` pairs as texts. */
export function readPairs(words) {
  return Object.fromEntries(
    words.map((word) => {
      const cut = word.indexOf('=');
      if (cut <= 0) throw new TurnbuckleError('ARGUMENTS_INVALID', `"${word}" is not of the form key=value.`);
      return [word.slice(0, cut), word.slice(cut + 1)];
    }),
  );
}
//# sourceMappingURL=words.js.map
