/** Errors of a sign-in that the authorization server did not cause. */
import { TurnbuckleError } from '../errors.js';
import { shellQuote } from '../text/shell-quote.js';
import { type LoginSubject, loginCommand } from './auth-errors.js';

export function signInNotSupported(server: string, type: string): TurnbuckleError {
  return new TurnbuckleError('AUTH_FAILED', `Server "${server}" does not use sign-in.`, {
    server,
    hint:
      type === 'none'
        ? 'It does not require sign-in.'
        : `The server's auth type is "${type}", so its credential comes from the configuration.`,
  });
}

/** The server requires a credential but names no authorization server. */
export function noAuthorizationServer(server: string, cause?: unknown): TurnbuckleError {
  return new TurnbuckleError(
    'AUTH_FAILED',
    `Server "${server}" does not support sign-in because it does not name an authorization server.`,
    {
      server,
      cause,
      hint: `Use a token instead. Set "auth": { "type": "bearer", "token": "\${secret:${server}}" } in the server's configuration, then run: turnbuckle secrets set ${shellQuote(server)}`,
    },
  );
}

export function signInPromptsMissing({ server, agent }: LoginSubject): TurnbuckleError {
  return new TurnbuckleError('AUTH_REQUIRED', `Sign-in to server "${server}" requires user interaction.`, {
    server,
    hint: `Run: ${loginCommand({ server, agent })}`,
  });
}

export function signInAbandoned(server: string): TurnbuckleError {
  return new TurnbuckleError('CALL_CANCELLED', `Sign-in to server "${server}" was cancelled.`, {
    server,
  });
}

export function signInTimedOut({ server, agent }: LoginSubject): TurnbuckleError {
  return new TurnbuckleError('AUTH_FAILED', `Sign-in to server "${server}" timed out.`, {
    server,
    hint: `Try again: ${loginCommand({ server, agent })}`,
  });
}
