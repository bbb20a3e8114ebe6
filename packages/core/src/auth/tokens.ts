/** What an authorization server answered, looked at before it is believed. */
import type { OAuthTokens } from '@modelcontextprotocol/client';
import { TurnbuckleError } from '../errors.js';

export interface Tokens {
  readonly accessToken: string;
  readonly refreshToken?: string | undefined;
  readonly scheme: 'Bearer' | 'DPoP';
  readonly scope?: string | undefined;
  readonly obtainedAt: number;
  /** Absent: not said, or not in a way that can be believed. */
  readonly expiresAt?: number | undefined;
}

const LARGEST = 64 * 1_024;
const YEAR_S = 366 * 24 * 3_600;
const SCHEMES: ReadonlyMap<string, Tokens['scheme']> = new Map([
  ['bearer', 'Bearer'],
  ['dpop', 'DPoP'],
]);

/** AUTH_FAILED when there is nothing in it that could be sent as a token, bound to our key where that was asked for. */
export function toTokens(
  server: string,
  answer: OAuthTokens,
  { now, bound }: { readonly now: number; readonly bound: boolean },
): Tokens {
  const { access_token, refresh_token, token_type, scope, expires_in } = answer;
  const scheme = SCHEMES.get(token_type.toLowerCase());
  if (scheme === undefined) throw unusable(server, 'a token of an unknown type');
  if (bound && scheme !== 'DPoP') throw unusable(server, 'a token that is not bound to our key');
  if (!isSendable(access_token)) throw unusable(server, 'a token that cannot be sent');
  if (refresh_token !== undefined && !isSendable(refresh_token))
    throw unusable(server, 'a refresh token that cannot be sent');
  // Negative, nothing or next to nothing: as if nothing was said, or each call would renew. A refusal will tell.
  const lasts = Number.isFinite(expires_in) && Number(expires_in) >= 1 ? Number(expires_in) : undefined;
  return {
    accessToken: access_token,
    refreshToken: refresh_token,
    scheme,
    scope,
    obtainedAt: now,
    expiresAt: lasts === undefined ? undefined : now + Math.min(lasts, YEAR_S) * 1_000,
  };
}

const isSendable = (token: string): boolean => token.length <= LARGEST && /^[\x21-\x7e]+$/.test(token);

function unusable(server: string, what: string): TurnbuckleError {
  return new TurnbuckleError(
    'AUTH_FAILED',
    `The authorization server of server "${server}" answered with ${what}.`,
    { server, hint: 'This is a defect of the authorization server. Tell those who run it.' },
  );
}

/** Renewed this long before the end, so that calls do not wait for it. */
export function renewAheadMs({ obtainedAt, expiresAt }: Tokens): number {
  return expiresAt === undefined ? 0 : Math.min(60_000, (expiresAt - obtainedAt) * 0.2);
}
