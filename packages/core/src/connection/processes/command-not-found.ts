import { resolve } from 'node:path';
import { isRelativeCommand } from '../config/relative-words.js';
import { TurnbuckleError } from '../errors.js';
import { commandHint } from './command-hint.js';

interface MissingCommand {
  readonly server: string;
  readonly command: string;
  /** Where it was looked for, if it is a relative path. */
  readonly directory: string;
  readonly what: string;
  readonly cause?: unknown;
}

/** A relative path is there or not depending on the directory: which one that was is half of what is to be told. */
export async function commandNotFound(missing: MissingCommand): Promise<TurnbuckleError> {
  const { server, command, directory, what, cause } = missing;
  const where = isRelativeCommand(command) ? ` in ${resolve(directory)}` : '';
  return new TurnbuckleError(
    'COMMAND_NOT_FOUND',
    `Server "${server}" could not be started: the command "${command}" ${what}${where}.`,
    { server, cause, hint: await commandHint(command, directory) },
  );
}
