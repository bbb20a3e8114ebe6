/** Errors of a sign-in in our own words: the texts of an authorization server are not repeated. */
import { TurnbuckleError } from '../errors.js';
import { isRecord } from '../json/is-record.js';
import { shellQuote } from '../text/shell-quote.js';

/** The challenge of a server that rejected a request. */
export interface Challenge {
  readonly error?: string | undefined;
  readonly scope?: string | undefined;
  readonly resourceMetadataUrl?: string | undefined;
  /** The server requires tokens that are bound to a key. */
  readonly dpop?: boolean | undefined;
}

/** Whose sign-in it is: that of a server, or of one agent there. */
export interface LoginSubject {
  readonly server: string;
  readonly agent?: string | undefined;
}

/** The command that signs in. */
export const loginCommand = ({ server, agent }: LoginSubject): string =>
  `turnbuckle login ${shellQuote(server)}${agent === undefined ? '' : ` --agent ${shellQuote(agent)}`}`;

export function signInRequired(
  { server, agent }: LoginSubject,
  { status, challenge, why }: { status: number; challenge?: Challenge | undefined; why: string },
): TurnbuckleError {
  return new TurnbuckleError('AUTH_REQUIRED', `Server "${server}" ${why}.`, {
    server,
    hint: `Sign in: ${loginCommand({ server, agent })}`,
    data: { status, sent: false, ...(challenge !== undefined && { challenge }) },
  });
}

export function scopeMissing(
  { server, agent }: LoginSubject,
  { scope, challenge }: { scope: string | undefined; challenge: Challenge },
): TurnbuckleError {
  const asked = scope === undefined ? '' : ` Required scopes: ${scope}.`;
  // Users paste this line into a shell: it contains the scopes of the server only if they are safe to paste.
  const wider = scope !== undefined && /^[\w:./ -]+$/.test(scope) ? ` --scope "${scope}"` : '';
  return new TurnbuckleError(
    'SCOPE_MISSING',
    `The credentials for server "${server}" lack a scope that this call requires.${asked}`,
    {
      server,
      hint: `Sign in again with more scopes: ${loginCommand({ server, agent })}${wider}`,
      data: { status: 403, sent: false, scope, challenge },
    },
  );
}

/** The server names a different authorization server than before, and there is a secret for the previous one only. */
export function authorizationServerChanged(
  server: string,
  { was, is }: { was: string; is: string },
): TurnbuckleError {
  return new TurnbuckleError(
    'AUTH_REQUIRED',
    `Server "${server}" now uses a different authorization server. The client secret was not sent to the new one.`,
    {
      server,
      hint: `If this is expected, set auth.issuer to the new authorization server, or sign out and start over: turnbuckle logout ${shellQuote(server)}`,
      data: { status: 401, sent: false, was, is },
    },
  );
}

/** Converts the failure of a step; OAuth error codes are kept, their texts are not. */
export function authFailed(server: string, step: string, cause: unknown): TurnbuckleError {
  if (cause instanceof TurnbuckleError) return cause;
  const code = oauthCode(cause);
  return new TurnbuckleError(
    'AUTH_FAILED',
    `Sign-in to server "${server}" failed while ${step}${code === undefined ? describeCause(cause) : `: ${code}`}.`,
    {
      server,
      cause,
      hint: HINTS.get(code ?? '') ?? `Try again: turnbuckle login ${shellQuote(server)}`,
      data: { step, ...(code !== undefined && { error: code }) },
    },
  );
}

/** By structure: class names of libraries are meaningless to users, and more so once minified. */
function describeCause(cause: unknown): string {
  if (!(cause instanceof Error)) return '';
  if ('issues' in cause && Array.isArray(cause.issues))
    return ': the response does not conform to the OAuth specification';
  if (cause instanceof SyntaxError) return ': the response is not valid JSON';
  const { cause: inner } = cause;
  const reason = typeof inner === 'object' && inner !== null && 'code' in inner ? inner.code : undefined;
  if (typeof reason === 'string' && /^[A-Z][A-Z0-9_]+$/.test(reason)) return `: no response (${reason})`;
  return cause instanceof TypeError ? ': no response' : '';
}

/** A temporary failure of the authorization server: worth a retry, unlike a rejection. */
export function renewalFailed(server: string, cause: unknown): TurnbuckleError {
  return new TurnbuckleError(
    'CONNECT_FAILED',
    `Could not refresh the credentials for server "${server}" because its authorization server did not respond as expected.`,
    { server, cause, hint: 'Turnbuckle retries automatically.', data: { sent: false } },
  );
}

/** A temporary failure: the same request may succeed later. */
export function isTransient(error: unknown): boolean {
  if (error instanceof TurnbuckleError)
    return error.code === 'FETCH_REFUSED' && error.data?.reason === 'time';
  const code = oauthCode(error);
  return code === undefined ? error instanceof TypeError : TRANSIENT_CODES.has(code);
}

const TRANSIENT_CODES: ReadonlySet<string> = new Set([
  'server_error',
  'temporarily_unavailable',
  'too_many_requests',
]);

const HINTS: ReadonlyMap<string, string> = new Map([
  ['access_denied', 'Access was denied. Sign in again and grant access.'],
  [
    'invalid_client',
    'The authorization server rejected the client. Check auth.clientId and auth.clientSecret.',
  ],
  ['invalid_scope', 'The authorization server rejected a scope. Check auth.scopes.'],
]);

/** The OAuth error code; anything that does not look like one is ignored. */
export function oauthCode(error: unknown): string | undefined {
  const code = isRecord(error) || error instanceof Error ? Reflect.get(error, 'code') : undefined;
  return typeof code === 'string' && /^[a-z][a-z_]{1,60}$/.test(code) ? code : undefined;
}
