/** Why a sign-in did not come about, where it is not the doing of an authorization server. */
import { TurnbuckleError } from '../errors.js';

export function nothingToSignIn(server: string, type: string): TurnbuckleError {
  return new TurnbuckleError('AUTH_FAILED', `There is nothing to sign in at server "${server}".`, {
    server,
    hint:
      type === 'none'
        ? 'It asks for no sign-in.'
        : `Its auth is of type ${type}: the credential is in its configuration.`,
  });
}

export function nobodyThere(server: string): TurnbuckleError {
  return new TurnbuckleError('AUTH_REQUIRED', `Signing in at server "${server}" needs a person.`, {
    server,
    hint: `Run: turnbuckle login ${server}`,
  });
}

export function givenUp(server: string): TurnbuckleError {
  return new TurnbuckleError(
    'CALL_CANCELLED',
    `Nobody waits for the sign-in at server "${server}" any more.`,
    {
      server,
    },
  );
}

export function tooLate(server: string): TurnbuckleError {
  return new TurnbuckleError('AUTH_FAILED', `The sign-in at server "${server}" was not finished in time.`, {
    server,
    hint: `Try again: turnbuckle login ${server}`,
  });
}
