/** The token request for every grant type, with client authentication, resource and proof. */
import {
  type AddClientAuthentication,
  type DpopSession,
  type FetchLike,
  fetchToken,
  type OAuthClientInformationMixed,
} from '@modelcontextprotocol/client';
import { authenticationOf } from '../client/client-authentication.js';
import type { AuthorizationServer } from '../sign-in-store.js';
import { type Tokens, toTokens } from '../tokens.js';

export interface TokenRequest {
  readonly server: string;
  readonly authorizationServer: AuthorizationServer;
  readonly client: OAuthClientInformationMixed | undefined;
  readonly parameters: Readonly<Record<string, string | undefined>>;
  readonly addClientAuthentication?: AddClientAuthentication | undefined;
  readonly dpop?: DpopSession | undefined;
  readonly fetch: FetchLike;
  readonly now: () => number;
}

/** Rejects with the SDK's errors: their meaning depends on the grant. */
export async function requestTokens(request: TokenRequest): Promise<Tokens> {
  const { server, authorizationServer, client, parameters, dpop, fetch, now } = request;
  const { url, metadata, resource } = authorizationServer;
  const addClientAuthentication = request.addClientAuthentication ?? (client && authenticationOf(client));
  const answer = await fetchToken(
    {
      redirectUrl: undefined,
      clientMetadata: { redirect_uris: [] },
      clientInformation: () => client,
      prepareTokenRequest: () =>
        new URLSearchParams(
          Object.entries(parameters).filter((entry): entry is [string, string] => entry[1] !== undefined),
        ),
      ...(addClientAuthentication !== undefined && { addClientAuthentication }),
      ...(dpop !== undefined && { dpop: () => dpop }),
      // The rest of the interface is for flows that the SDK runs itself.
      tokens: () => undefined,
      saveTokens: () => undefined,
      redirectToAuthorization: () => undefined,
      saveCodeVerifier: () => undefined,
      codeVerifier: () => '',
    },
    url,
    { ...(metadata !== undefined && { metadata }), resource, fetchFn: fetch },
  );
  return toTokens(server, answer, { now: now(), bound: dpop !== undefined });
}
