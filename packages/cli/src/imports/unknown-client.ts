import { TurnbuckleError } from 'turnbuckle';
import { nearestWord } from '../command-line/nearest-word.js';
import { CLIENTS } from './index.js';

/** The error for a name that no other tool has, with the one that was probably meant. */
export function unknownClient(name: string): TurnbuckleError {
  const known = CLIENTS.map(({ id }) => id);
  const close = nearestWord(name, known);
  return new TurnbuckleError('ARGUMENTS_INVALID', `Unknown client "${name}".`, {
    hint: close === undefined ? `Available clients: ${known.join(', ')}` : `Did you mean "${close}"?`,
  });
}
