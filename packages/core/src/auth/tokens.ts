/** Validates the token response of an authorization server. */
import type { OAuthTokens } from '@modelcontextprotocol/client';
import { TurnbuckleError } from '../errors.js';

export interface Tokens {
  readonly accessToken: string;
  readonly refreshToken?: string | undefined;
  readonly scheme: 'Bearer' | 'DPoP';
  readonly scope?: string | undefined;
  readonly obtainedAt: number;
  /** Absent: missing or implausible. */
  readonly expiresAt?: number | undefined;
}

const MAX_TOKEN_LENGTH = 64 * 1_024;
const MAX_LIFETIME_S = 366 * 24 * 3_600;
const SCHEMES: ReadonlyMap<string, Tokens['scheme']> = new Map([
  ['bearer', 'Bearer'],
  ['dpop', 'DPoP'],
]);

/** AUTH_FAILED if the response has no usable token, bound to our key if required. */
export function toTokens(
  server: string,
  answer: OAuthTokens,
  { now, bound }: { readonly now: number; readonly bound: boolean },
): Tokens {
  const { access_token, refresh_token, token_type, scope, expires_in } = answer;
  const scheme = SCHEMES.get(token_type.toLowerCase());
  if (scheme === undefined) throw unusableToken(server, 'a token of an unknown type');
  if (bound && scheme !== 'DPoP') throw unusableToken(server, 'a token that is not bound to the DPoP key');
  if (!isSendable(access_token)) throw unusableToken(server, 'a malformed token');
  if (refresh_token !== undefined && !isSendable(refresh_token))
    throw unusableToken(server, 'a malformed refresh token');
  // An implausible lifetime is ignored, or each call would refresh. A rejection will show the expiry.
  const lasts = Number.isFinite(expires_in) && Number(expires_in) >= 1 ? Number(expires_in) : undefined;
  return {
    accessToken: access_token,
    refreshToken: refresh_token,
    scheme,
    scope,
    obtainedAt: now,
    expiresAt: lasts === undefined ? undefined : now + Math.min(lasts, MAX_LIFETIME_S) * 1_000,
  };
}

const isSendable = (token: string): boolean =>
  token.length <= MAX_TOKEN_LENGTH && /^[\x21-\x7e]+$/.test(token);

function unusableToken(server: string, what: string): TurnbuckleError {
  return new TurnbuckleError(
    'AUTH_FAILED',
    `The authorization server for server "${server}" returned ${what}.`,
    { server, hint: "This is a bug in the authorization server. Report it to that server's operator." },
  );
}

/** How long before expiry a token is refreshed, so that calls do not wait for it. */
export function renewAheadMs({ obtainedAt, expiresAt }: Tokens): number {
  return expiresAt === undefined ? 0 : Math.min(60_000, (expiresAt - obtainedAt) * 0.2);
}
