/** Sign-out: revokes the tokens at the authorization server (RFC 7009). */
import type { FetchLike } from '@modelcontextprotocol/client';
import { isSafeAddress } from '../client/authorization-server.js';
import { authenticationOf } from '../client/client-authentication.js';
import type { SignIn } from '../sign-in-store.js';

/** True if the tokens were revoked. Never throws: the local sign-out works without it. */
export async function revoke(
  { authorizationServer, client, tokens }: SignIn,
  fetch: FetchLike,
): Promise<boolean> {
  const endpoint: unknown = Reflect.get(authorizationServer.metadata ?? {}, 'revocation_endpoint');
  if (tokens === undefined || typeof endpoint !== 'string' || !isSafeAddress(endpoint)) return false;
  const revokeToken = async (token: string, hint: string): Promise<boolean> => {
    const headers = new Headers({ 'content-type': 'application/x-www-form-urlencoded' });
    const body = new URLSearchParams({ token, token_type_hint: hint });
    await authenticationOf(client)(headers, body, endpoint, authorizationServer.metadata);
    const response = await fetch(endpoint, { method: 'POST', headers, body: body.toString() });
    return response.ok;
  };
  try {
    // The refresh token first: most authorization servers then revoke the access tokens too.
    const revocations = [
      ...(tokens.refreshToken === undefined
        ? []
        : [() => revokeToken(tokens.refreshToken ?? '', 'refresh_token')]),
      () => revokeToken(tokens.accessToken, 'access_token'),
    ];
    let all = true;
    for (const end of revocations) all = (await end()) && all;
    return all;
  } catch {
    return false;
  }
}
