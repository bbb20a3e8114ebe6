import { defaultStateDirectory } from 'turnbuckle';
import type { CommandContext } from './command.js';

/** Where the commands of this user keep what they remember, and where a daemon of theirs is found. */
export const stateDirectoryOf = ({ environment }: Pick<CommandContext, 'environment'>): string =>
  environment.TURNBUCKLE_STATE_DIR || defaultStateDirectory(environment);
