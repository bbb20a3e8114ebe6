/** What goes wrong in a sign-in, in our words: what an authorization server says about it is not repeated. */
import { TurnbuckleError } from '../errors.js';
import { isRecord } from '../is-record.js';

/** What a server said when it refused. */
export interface Challenge {
  readonly error?: string | undefined;
  readonly scope?: string | undefined;
  readonly resourceMetadataUrl?: string | undefined;
  /** It wants tokens that are bound to a key. */
  readonly dpop?: boolean | undefined;
}

export function signInRequired(
  server: string,
  { status, challenge, why }: { status: number; challenge?: Challenge | undefined; why: string },
): TurnbuckleError {
  return new TurnbuckleError('AUTH_REQUIRED', `Server "${server}" ${why}.`, {
    server,
    hint: `Sign in: turnbuckle login ${server}`,
    data: { status, sent: false, ...(challenge !== undefined && { challenge }) },
  });
}

export function scopeMissing(
  server: string,
  { scope, challenge }: { scope: string | undefined; challenge: Challenge },
): TurnbuckleError {
  const asked = scope === undefined ? '' : ` It asks for: ${scope}.`;
  // A line that people paste into a shell: what the server asks for is in it only if no shell could mistake it.
  const wider = scope !== undefined && /^[\w:./ -]+$/.test(scope) ? ` --scope "${scope}"` : '';
  return new TurnbuckleError(
    'SCOPE_MISSING',
    `The sign-in at server "${server}" does not cover this call.${asked}`,
    {
      server,
      hint: `Sign in again with more: turnbuckle login ${server}${wider}`,
      data: { status: 403, sent: false, scope, challenge },
    },
  );
}

/** The server names another authorization server than before, and there is a secret that is only for that one. */
export function anotherServer(server: string, { was, is }: { was: string; is: string }): TurnbuckleError {
  return new TurnbuckleError(
    'AUTH_REQUIRED',
    `Server "${server}" now trusts another authorization server, which is not told our secret.`,
    {
      server,
      hint: `If that is right, name the new one in auth.issuer, or begin anew: turnbuckle logout ${server}`,
      data: { status: 401, sent: false, was, is },
    },
  );
}

/** Any failure of a step as ours; codes of OAuth errors are kept, their texts are not. */
export function authFailed(server: string, step: string, cause: unknown): TurnbuckleError {
  if (cause instanceof TurnbuckleError) return cause;
  const code = oauthCode(cause);
  return new TurnbuckleError(
    'AUTH_FAILED',
    `Signing in at server "${server}" failed while ${step}${code === undefined ? inWords(cause) : `: ${code}`}.`,
    {
      server,
      cause,
      hint: HINTS[code ?? ''] ?? `Try again: turnbuckle login ${server}`,
      data: { step, ...(code !== undefined && { error: code }) },
    },
  );
}

/** By structure: a class of a library says nothing to people, and less once it is minified. */
function inWords(cause: unknown): string {
  if (!(cause instanceof Error)) return '';
  if ('issues' in cause && Array.isArray(cause.issues)) return ': the answer is not as the standard wants it';
  if (cause instanceof SyntaxError) return ': the answer is not JSON';
  const { cause: inner } = cause;
  const reason = typeof inner === 'object' && inner !== null && 'code' in inner ? inner.code : undefined;
  if (typeof reason === 'string' && /^[A-Z][A-Z0-9_]+$/.test(reason)) return `: no answer (${reason})`;
  return cause instanceof TypeError ? ': no answer' : '';
}

/** Passing trouble with the authorization server: worth another try later, unlike a refusal. */
export function cannotRenew(server: string, cause: unknown): TurnbuckleError {
  return new TurnbuckleError(
    'CONNECT_FAILED',
    `The sign-in at server "${server}" could not be renewed: its authorization server does not answer as it should.`,
    { server, cause, hint: 'It is tried again by itself.', data: { sent: false } },
  );
}

/** Trouble of the moment: the same request may well succeed later. */
export function isPassing(error: unknown): boolean {
  if (error instanceof TurnbuckleError)
    return error.code === 'FETCH_REFUSED' && error.data?.reason === 'time';
  const code = oauthCode(error);
  return code === undefined ? error instanceof TypeError : PASSING.has(code);
}

const PASSING: ReadonlySet<string> = new Set([
  'server_error',
  'temporarily_unavailable',
  'too_many_requests',
]);

const HINTS: Readonly<Record<string, string>> = {
  access_denied: 'The sign-in was refused. Try again and allow it.',
  invalid_client: 'The client id or its secret is not known there: look at its auth block.',
  invalid_scope: 'One of the scopes is not known there: look at auth.scopes.',
};

/** The registered code of an OAuth error; anything that does not look like one is not believed. */
export function oauthCode(error: unknown): string | undefined {
  const code = isRecord(error) || error instanceof Error ? Reflect.get(error, 'code') : undefined;
  return typeof code === 'string' && /^[a-z][a-z_]{1,60}$/.test(code) ? code : undefined;
}
