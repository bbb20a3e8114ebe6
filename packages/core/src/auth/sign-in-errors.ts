/** Why a sign-in did not come about, where it is not the doing of an authorization server. */
import { TurnbuckleError } from '../errors.js';

export function nothingToSignIn(server: string, type: string): TurnbuckleError {
  return new TurnbuckleError('AUTH_FAILED', `There is nothing to sign in at server "${server}".`, {
    server,
    hint:
      type === 'none'
        ? 'It needs no sign-in.'
        : `Its auth is of type ${type}: the credential is in its configuration.`,
  });
}

/** It wants a credential, and there is no authorization server to get one from. */
export function offersNoSignIn(server: string, cause?: unknown): TurnbuckleError {
  return new TurnbuckleError(
    'AUTH_FAILED',
    `Server "${server}" offers no sign-in: it names no authorization server.`,
    {
      server,
      cause,
      hint: `Give it a token instead, as its makers say. In its configuration: "auth": { "type": "bearer", "token": "\${secret:${server}}" }, and then: turnbuckle secrets set ${server}`,
    },
  );
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
