import { TurnbuckleError } from '../../errors.js';

/** A sandbox that cannot be made as it is configured. */
export function sandboxFault(server: string, text: string, hint: string): TurnbuckleError {
  return new TurnbuckleError('CONFIG_INVALID', `The sandbox of server "${server}" cannot be made: ${text}.`, {
    server,
    hint,
  });
}
