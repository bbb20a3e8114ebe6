/**
 * Which authorization server speaks for a server, found by asking the server and believed only as far as it
 * can be checked: the issuer names itself as it was named, it knows PKCE, its addresses are safe to use.
 */
import {
  type AuthorizationServerMetadata,
  checkResourceAllowed,
  discoverOAuthServerInfo,
  type FetchLike,
  resourceUrlFromServerUrl,
} from '@modelcontextprotocol/client';
import type { AuthConfig } from '../config/auth-schema.js';
import { TurnbuckleError } from '../errors.js';
import { authFailed, type Challenge } from './auth-errors.js';
import type { AuthorizationServer } from './sign-in-store.js';

/** The parts of an `auth` block that say where the authorization server is. */
export type Places = Partial<
  Pick<
    Extract<AuthConfig, { type: 'oauth' }>,
    'issuer' | 'tokenUrl' | 'authUrl' | 'deviceUrl' | 'registrationUrl' | 'revocationUrl'
  >
>;

export interface DiscoveryOptions {
  readonly server: string;
  readonly serverUrl: string;
  readonly places: Places;
  readonly challenge?: Challenge | undefined;
  readonly fetch: FetchLike;
}

export async function findAuthorizationServer(options: DiscoveryOptions): Promise<AuthorizationServer> {
  const { server, places, challenge, fetch } = options;
  // Metadata is a matter of HTTP, whatever carries the messages.
  const serverUrl = options.serverUrl.replace(/^ws/i, 'http');
  if (places.tokenUrl !== undefined) return explicitServer(serverUrl, places, places.tokenUrl);
  requireTokenUrl(server, places);
  const { resourceMetadataUrl } = challenge ?? {};
  const info = await discoverOAuthServerInfo(serverUrl, {
    fetchFn: fetch,
    ...(resourceMetadataUrl !== undefined && { resourceMetadataUrl: new URL(resourceMetadataUrl) }),
  }).catch((error: unknown) => {
    throw authFailed(server, 'looking for its authorization server', error);
  });
  const { resourceMetadata, authorizationServerMetadata: metadata } = info;
  const found: AuthorizationServer = {
    issuer: metadata?.issuer ?? info.authorizationServerUrl,
    url: info.authorizationServerUrl,
    metadata,
    // As it is written there: a slash more or less is another resource to some.
    resource: resourceMetadata?.resource ?? resourceUrlFromServerUrl(serverUrl).href,
    scopesSupported: resourceMetadata?.scopes_supported,
  };
  checkResource(server, serverUrl, found.resource);
  if (places.issuer !== undefined && places.issuer !== found.issuer)
    throw distrusted(server, 'its authorization server is not the one that its configuration names');
  if (metadata !== undefined) checkMetadata(server, metadata);
  return found;
}

function checkResource(server: string, serverUrl: string, resource: string): void {
  const allowed =
    URL.canParse(resource) &&
    checkResourceAllowed({
      requestedResource: resourceUrlFromServerUrl(serverUrl),
      configuredResource: new URL(resource),
    });
  if (!allowed) throw distrusted(server, 'its metadata is about another resource');
}

function checkMetadata(server: string, metadata: AuthorizationServerMetadata): void {
  const { token_endpoint, authorization_endpoint, registration_endpoint } = metadata;
  for (const [what, address] of Object.entries({
    token_endpoint,
    authorization_endpoint,
    registration_endpoint,
  })) {
    if (address !== undefined && !isSafeAddress(address))
      throw distrusted(
        server,
        `the ${what.replaceAll('_', ' ')} of its authorization server is not an https address`,
      );
  }
}

/** Https, or http on this machine. */
export function isSafeAddress(address: string): boolean {
  if (!URL.canParse(address)) return false;
  const { protocol, hostname, username, password } = new URL(address);
  if (username !== '' || password !== '') return false;
  if (protocol === 'https:') return true;
  return protocol === 'http:' && /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);
}

/** A person is only sent to an authorization server that says it protects the way back (PKCE with S256). */
export function requirePkce(server: string, { metadata }: AuthorizationServer): void {
  // Without a metadata document there is nothing that could say so (revision 2025-03-26).
  if (metadata !== undefined && metadata.code_challenge_methods_supported?.includes('S256') !== true)
    throw distrusted(server, 'its authorization server does not offer PKCE with S256');
}

/** Other endpoints without it would be passed over in silence. */
function requireTokenUrl(server: string, places: Places): void {
  const given = (['authUrl', 'deviceUrl', 'registrationUrl', 'revocationUrl'] as const).find(
    (key) => places[key] !== undefined,
  );
  if (given === undefined) return;
  throw new TurnbuckleError(
    'CONFIG_INVALID',
    `The auth of server "${server}" has ${given} and no tokenUrl: its endpoints are either all looked up or all named.`,
    { server, hint: `Add auth.tokenUrl, the address where codes are traded for tokens, or remove ${given}.` },
  );
}

function explicitServer(serverUrl: string, places: Places, tokenUrl: string): AuthorizationServer {
  const issuer = places.issuer ?? new URL(tokenUrl).origin;
  return {
    issuer,
    ...(places.issuer === undefined && { isIssuerGuessed: true }),
    url: issuer,
    resource: resourceUrlFromServerUrl(serverUrl).href,
    metadata: {
      issuer,
      token_endpoint: tokenUrl,
      authorization_endpoint: places.authUrl ?? new URL('/authorize', tokenUrl).href,
      response_types_supported: ['code'],
      code_challenge_methods_supported: ['S256'],
      ...(places.registrationUrl !== undefined && { registration_endpoint: places.registrationUrl }),
      ...(places.revocationUrl !== undefined && { revocation_endpoint: places.revocationUrl }),
      ...(places.deviceUrl !== undefined && { device_authorization_endpoint: places.deviceUrl }),
    },
  };
}

function distrusted(server: string, why: string): TurnbuckleError {
  return new TurnbuckleError('AUTH_FAILED', `Signing in at server "${server}" was stopped: ${why}.`, {
    server,
    hint: 'Nothing was sent to it. Tell those who run the server, or do not use it.',
  });
}
