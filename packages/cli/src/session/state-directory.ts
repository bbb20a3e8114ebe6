import { isAbsolute } from 'node:path';
import { TurnbuckleError } from 'turnbuckle';
import { defaultStateDirectory } from 'turnbuckle/host';
import type { CommandContext } from '../command.js';

/** Where the commands of this user keep what they remember, and where a daemon of theirs is found. */
export function stateDirectoryOf({ environment }: Pick<CommandContext, 'environment'>): string {
  const named = environment.TURNBUCKLE_STATE_DIR;
  if (named === undefined || named === '') return defaultStateDirectory(environment);
  if (isAbsolute(named)) return named;
  // It would be another one in every directory, and a project could ship agreements to its own servers there.
  throw new TurnbuckleError('CONFIG_INVALID', `TURNBUCKLE_STATE_DIR is not an absolute path: "${named}".`, {
    hint: 'Use an absolute path, or unset the variable.',
  });
}
