import { resolve } from 'node:path';
import { isRelativeCommand } from '../../config/relative-paths.js';
import { TurnbuckleError } from '../../errors.js';
import { commandHint } from './command-hint.js';

interface MissingCommand {
  readonly server: string;
  readonly command: string;
  /** The base directory, if it is a relative path. */
  readonly directory: string;
  readonly what: string;
  readonly cause?: unknown;
}

/** Names the directory, because a relative path depends on it. */
export async function commandNotFound(missing: MissingCommand): Promise<TurnbuckleError> {
  const { server, command, directory, what, cause } = missing;
  const where = isRelativeCommand(command) ? ` in ${resolve(directory)}` : '';
  return new TurnbuckleError(
    'COMMAND_NOT_FOUND',
    `Cannot start server "${server}" because the command "${command}" ${what}${where}.`,
    { server, cause, hint: await commandHint(command, directory) },
  );
}
