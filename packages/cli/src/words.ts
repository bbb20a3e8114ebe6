/** The words of a command line: the ones it needs, or an error that says which is missing. */
import { TurnbuckleError } from 'turnbuckle';
import type { CommandContext } from './command.js';

export function needWord({ words, command }: CommandContext, index: number, name: string): string {
  const word = words[index];
  if (word === undefined)
    throw new TurnbuckleError('ARGUMENTS_INVALID', `The ${name} is missing.`, {
      hint: `usage: turnbuckle ${command.name} ${command.arguments}`,
    });
  return word;
}

/** `key=value` pairs as texts. */
export function readPairs(words: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    words.map((word) => {
      const cut = word.indexOf('=');
      if (cut <= 0)
        throw new TurnbuckleError('ARGUMENTS_INVALID', `"${word}" is not of the form key=value.`, {
          hint: 'Put quotes around a value with spaces: key="two words"',
        });
      return [word.slice(0, cut), word.slice(cut + 1)];
    }),
  );
}
