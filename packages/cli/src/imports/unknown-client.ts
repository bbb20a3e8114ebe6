import { TurnbuckleError } from 'turnbuckle';
import { CLIENTS } from './imports/index.js';
import { nearestWord } from './nearest-word.js';

/** The error for a name that no other tool has, with the one that was probably meant. */
export function unknownClient(name: string, purpose: 'import from' | 'write for'): TurnbuckleError {
  const known = CLIENTS.map(({ id }) => id);
  const close = nearestWord(name, known);
  return new TurnbuckleError('ARGUMENTS_INVALID', `There is no tool "${name}" to ${purpose}.`, {
    hint: close === undefined ? `There are: ${known.join(', ')}` : `Did you mean "${close}"?`,
  });
}
