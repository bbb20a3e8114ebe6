/**
 * Discovers the authorization server of a server, and verifies what it can: the issuer matches, PKCE is supported,
 * the endpoints are safe to use.
 */
import {
  type AuthorizationServerMetadata,
  checkResourceAllowed,
  discoverOAuthServerInfo,
  type FetchLike,
  resourceUrlFromServerUrl,
} from '@modelcontextprotocol/client';
import type { AuthConfig } from '../../config/schema/auth-schema.js';
import { TurnbuckleError } from '../../errors.js';
import { authFailed, type Challenge } from '../auth-errors.js';
import type { AuthorizationServer } from '../sign-in-store.js';

/** The keys of an `auth` block that locate the authorization server. */
export type EndpointConfig = Partial<
  Pick<
    Extract<AuthConfig, { type: 'oauth' }>,
    'issuer' | 'tokenUrl' | 'authUrl' | 'deviceUrl' | 'registrationUrl' | 'revocationUrl'
  >
>;

export interface AuthDiscoveryOptions {
  readonly server: string;
  readonly serverUrl: string;
  readonly endpoints: EndpointConfig;
  readonly challenge?: Challenge | undefined;
  readonly fetch: FetchLike;
}

export async function findAuthorizationServer(options: AuthDiscoveryOptions): Promise<AuthorizationServer> {
  const { server, endpoints, challenge, fetch } = options;
  // Metadata is fetched over HTTP, whatever the transport.
  const serverUrl = options.serverUrl.replace(/^ws/i, 'http');
  if (endpoints.tokenUrl !== undefined) return explicitServer(serverUrl, endpoints, endpoints.tokenUrl);
  requireTokenUrl(server, endpoints);
  const { resourceMetadataUrl } = challenge ?? {};
  const info = await discoverOAuthServerInfo(serverUrl, {
    fetchFn: fetch,
    ...(resourceMetadataUrl !== undefined && { resourceMetadataUrl: new URL(resourceMetadataUrl) }),
  }).catch((error: unknown) => {
    throw authFailed(server, 'discovering its authorization server', error);
  });
  const { resourceMetadata, authorizationServerMetadata: metadata } = info;
  const found: AuthorizationServer = {
    issuer: metadata?.issuer ?? info.authorizationServerUrl,
    url: info.authorizationServerUrl,
    metadata,
    // Exactly as written: to some servers a trailing slash makes a different resource.
    resource: resourceMetadata?.resource ?? resourceUrlFromServerUrl(serverUrl).href,
    scopesSupported: resourceMetadata?.scopes_supported,
  };
  checkResource(server, serverUrl, found.resource);
  if (endpoints.issuer !== undefined && endpoints.issuer !== found.issuer)
    throw untrustedMetadata(server, 'its authorization server does not match auth.issuer');
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
  if (!allowed) throw untrustedMetadata(server, 'its metadata describes a different resource');
}

function checkMetadata(server: string, metadata: AuthorizationServerMetadata): void {
  const { token_endpoint, authorization_endpoint, registration_endpoint } = metadata;
  for (const [what, address] of Object.entries({
    token_endpoint,
    authorization_endpoint,
    registration_endpoint,
  })) {
    if (address !== undefined && !isSafeAddress(address))
      throw untrustedMetadata(
        server,
        `its authorization server's ${what.replaceAll('_', ' ')} is not an https URL`,
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

/** Users are only sent to an authorization server that supports PKCE with S256. */
export function requirePkce(server: string, { metadata }: AuthorizationServer): void {
  // Without a metadata document (revision 2025-03-26) this is unknown.
  if (metadata !== undefined && metadata.code_challenge_methods_supported?.includes('S256') !== true)
    throw untrustedMetadata(server, 'its authorization server does not support PKCE with S256');
}

/** Without tokenUrl, the other endpoints would be ignored silently. */
function requireTokenUrl(server: string, places: EndpointConfig): void {
  const given = (['authUrl', 'deviceUrl', 'registrationUrl', 'revocationUrl'] as const).find(
    (key) => places[key] !== undefined,
  );
  if (given === undefined) return;
  throw new TurnbuckleError(
    'CONFIG_INVALID',
    `Server "${server}" has auth.${given} but no auth.tokenUrl. If no endpoints are configured, Turnbuckle discovers them.`,
    { server, hint: `Add auth.tokenUrl (the token endpoint), or remove auth.${given}.` },
  );
}

function explicitServer(serverUrl: string, places: EndpointConfig, tokenUrl: string): AuthorizationServer {
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

function untrustedMetadata(server: string, why: string): TurnbuckleError {
  return new TurnbuckleError('AUTH_FAILED', `Sign-in to server "${server}" was stopped because ${why}.`, {
    server,
    hint: "No credentials were sent to the authorization server. Report this to the server's operator.",
  });
}
