/** Signing out: the authorization server is told that the tokens are not wanted any more (RFC 7009). */
import type { FetchLike } from '@modelcontextprotocol/client';
import { isSafeAddress } from './authorization-server.js';
import { authenticationOf } from './client-authentication.js';
import type { SignIn } from './sign-in-store.js';

/** True when it was told and agreed. Never throws: signing out here works without it. */
export async function revoke(
  { authorizationServer, client, tokens }: SignIn,
  fetch: FetchLike,
): Promise<boolean> {
  const endpoint: unknown = Reflect.get(authorizationServer.metadata ?? {}, 'revocation_endpoint');
  if (tokens === undefined || typeof endpoint !== 'string' || !isSafeAddress(endpoint)) return false;
  const told = async (token: string, hint: string): Promise<boolean> => {
    const headers = new Headers({ 'content-type': 'application/x-www-form-urlencoded' });
    const body = new URLSearchParams({ token, token_type_hint: hint });
    await authenticationOf(client)(headers, body, endpoint, authorizationServer.metadata);
    const response = await fetch(endpoint, { method: 'POST', headers, body: body.toString() });
    return response.ok;
  };
  try {
    // The refresh token first: with it most authorization servers end the access tokens too.
    const ends = [
      ...(tokens.refreshToken === undefined ? [] : [() => told(tokens.refreshToken ?? '', 'refresh_token')]),
      () => told(tokens.accessToken, 'access_token'),
    ];
    let all = true;
    for (const end of ends) all = (await end()) && all;
    return all;
  } catch {
    return false;
  }
}
