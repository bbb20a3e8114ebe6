/** Client authentication at the endpoints of an authorization server. */
import {
  type AddClientAuthentication,
  type OAuthClientInformationMixed,
  selectClientAuthMethod,
} from '@modelcontextprotocol/client';

/** Sends the client id, and the secret if there is one, in the way that the authorization server supports. */
export function authenticationOf(client: OAuthClientInformationMixed): AddClientAuthentication {
  // biome-ignore lint/complexity/useMaxParams: the SDK calls it.
  return (headers, parameters, _url, metadata) => {
    const { client_id: id } = client;
    const secret = 'client_secret' in client ? client.client_secret : undefined;
    const method = selectClientAuthMethod(client, metadata?.token_endpoint_auth_methods_supported ?? []);
    if (secret !== undefined && method === 'client_secret_basic') {
      // Encoded first (RFC 6749 2.3.1), which the SDK omits: secrets may contain any character.
      const pair = `${encodeURIComponent(id)}:${encodeURIComponent(secret)}`;
      headers.set('authorization', `Basic ${Buffer.from(pair).toString('base64')}`);
      return;
    }
    parameters.set('client_id', id);
    if (secret !== undefined && method === 'client_secret_post') parameters.set('client_secret', secret);
  };
}
