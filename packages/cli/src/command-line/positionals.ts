/** The words of a command line: the ones it needs, or an error that says which is missing. */
import { TurnbuckleError } from 'turnbuckle';
import type { CommandContext } from './command.js';
import { nearestWord } from './nearest-word.js';

export function needWord({ words, command }: CommandContext, index: number, name: string): string {
  const word = words[index];
  if (word === undefined)
    throw new TurnbuckleError('ARGUMENTS_INVALID', `The ${name} is missing.`, {
      hint: `usage: turnbuckle ${command.name} ${command.arguments}`,
    });
  return word;
}

/** The hint for a word that the command does not know: the one that was meant, or how it is written. */
export function meantWord({ command }: CommandContext, word: string, known: readonly string[]): string {
  const close = nearestWord(word, known);
  if (close !== undefined) return `Did you mean "turnbuckle ${command.name} ${close}"?`;
  return `usage: turnbuckle ${command.name} ${command.arguments}`;
}

/** Refuses words after the first `most`: they would say something that is not done. */
export function refuseSurplus({ words, command }: CommandContext, most: number): void {
  const surplus = words[most];
  if (surplus !== undefined)
    throw new TurnbuckleError('ARGUMENTS_INVALID', `"${surplus}" is one word too many.`, {
      hint: `usage: turnbuckle ${command.name} ${command.arguments}`.trimEnd(),
    });
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
