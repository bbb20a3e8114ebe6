import { TurnbuckleError } from '../../errors.js';

/** A sandbox that cannot be created as configured. */
export function sandboxError(server: string, text: string, hint: string): TurnbuckleError {
  return new TurnbuckleError(
    'CONFIG_INVALID',
    `Cannot create the sandbox for server "${server}" because ${text}.`,
    {
      server,
      hint,
    },
  );
}
