/** Positional arguments of a command line, and errors about them. */
import { TurnbuckleError } from 'turnbuckle';
import type { CommandContext } from '../command.js';
import { nearestWord } from './nearest-word.js';

export function requirePositional(
  { positionals, command }: CommandContext,
  index: number,
  name: string,
): string {
  const word = positionals[index];
  if (word === undefined)
    throw new TurnbuckleError('ARGUMENTS_INVALID', `Missing argument: ${name}.`, {
      hint: `usage: turnbuckle ${command.name} ${command.arguments}`,
    });
  return word;
}

/** The hint for an unknown word: the closest known one, or the usage. */
export function suggestWord({ command }: CommandContext, word: string, known: readonly string[]): string {
  const close = nearestWord(word, known);
  if (close !== undefined) return `Did you mean "turnbuckle ${command.name} ${close}"?`;
  return `usage: turnbuckle ${command.name} ${command.arguments}`;
}

/** Throws for arguments after the first `most`, which would be ignored. */
export function rejectExtraPositionals({ positionals, command }: CommandContext, most: number): void {
  const surplus = positionals[most];
  if (surplus !== undefined)
    throw new TurnbuckleError('ARGUMENTS_INVALID', `Unexpected argument "${surplus}".`, {
      hint: `usage: turnbuckle ${command.name} ${command.arguments}`.trimEnd(),
    });
}

/** `key=value` pairs as texts. */
export function parseKeyValuePairs(words: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    words.map((word) => {
      const cut = word.indexOf('=');
      if (cut <= 0)
        throw new TurnbuckleError('ARGUMENTS_INVALID', `Invalid argument "${word}": expected key=value.`, {
          hint: 'Quote values that contain spaces: key="two words"',
        });
      return [word.slice(0, cut), word.slice(cut + 1)];
    }),
  );
}
