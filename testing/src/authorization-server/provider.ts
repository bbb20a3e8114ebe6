import { generateKeyPairSync, randomBytes } from 'node:crypto';
import Provider, { type ClientMetadata, type Configuration, type ResourceServer } from 'oidc-provider';
import { type AssertionIssuer, acceptAssertions } from './assertion-grant.js';
import { INTERACTION_PATH } from './interaction.js';
import { createRotatingStore } from './rotating-store.js';

export interface ProviderOptions {
  /** The lifetime of access tokens; default: one hour. */
  readonly accessTokenSeconds?: number | undefined;
  /** JWTs are verified locally and cannot be revoked; opaque tokens can. */
  readonly format?: 'opaque' | 'jwt' | undefined;
  readonly scopes?: readonly string[] | undefined;
  /** Clients that are registered in advance. */
  readonly clients?: readonly ClientMetadata[] | undefined;
  /** False: no dynamic client registration. */
  readonly registration?: boolean | undefined;
  /** How long a used refresh token is accepted again. */
  readonly graceMs?: number | undefined;
  /** Proofs of possession need a nonce of the server. */
  readonly nonces?: boolean | undefined;
  readonly assertionIssuers?: readonly AssertionIssuer[] | undefined;
  /** Client id metadata documents, by URL. */
  readonly documents?: Readonly<Record<string, object>> | undefined;
}

export const TOOL_SCOPES: readonly string[] = ['tools:read', 'tools:write', 'tools:admin'];
export const SIGNING = generateKeyPairSync('ec', { namedCurve: 'P-256' });

/** Seconds. */
const LIFETIMES = {
  AuthorizationCode: 60,
  DeviceCode: 600,
  Grant: 86_400,
  IdToken: 3_600,
  Interaction: 600,
  RefreshToken: 86_400,
  Session: 86_400,
};

/** A real OAuth authorization server: rotation (a reused refresh token ends its family), PKCE, resources, DPoP. */
export function createProvider(issuer: string, options: ProviderOptions, life: () => number): Provider {
  const { scopes = TOOL_SCOPES, format = 'opaque', assertionIssuers = [] } = options;
  const describeResource = (): ResourceServer => ({
    scope: scopes.join(' '),
    accessTokenTTL: life(),
    accessTokenFormat: format,
    ...(format === 'jwt' && { jwt: { sign: { alg: 'ES256' } } }),
  });
  const configuration: Configuration = {
    adapter: createRotatingStore(() => options.graceMs ?? 0),
    clients: options.clients?.map((client) => ({ ...client })) ?? [],
    scopes: ['offline_access', ...scopes],
    jwks: { keys: [{ ...SIGNING.privateKey.export({ format: 'jwk' }), use: 'sig', alg: 'ES256' }] },
    clientDefaults: { id_token_signed_response_alg: 'ES256' },
    cookies: { keys: [randomBytes(16).toString('hex')] },
    interactions: { url: (_context, { uid }) => `${INTERACTION_PATH}${uid}` },
    findAccount: (_context, sub) => ({ accountId: sub, claims: () => ({ sub }) }),
    rotateRefreshToken: true,
    issueRefreshToken: (_context, client) => client.grantTypeAllowed('refresh_token'),
    pkce: { required: () => true },
    clientAuthMethods: ['none', 'client_secret_basic', 'client_secret_post', 'private_key_jwt'],
    routes: {
      authorization: '/authorize',
      registration: '/register',
      revocation: '/revoke',
      device_authorization: '/device/start',
    },
    ttl: { ...LIFETIMES, AccessToken: life, ClientCredentials: life },
    features: {
      devInteractions: { enabled: false },
      userinfo: { enabled: false },
      rpInitiatedLogout: { enabled: false },
      registration: { enabled: options.registration ?? true },
      revocation: {
        enabled: true,
        allowedPolicy: (_context, client, token) => token.clientId === client.clientId,
      },
      clientCredentials: { enabled: true },
      deviceFlow: { enabled: true, mask: '****-****', ...DEVICE_PAGES },
      dPoP: {
        enabled: true,
        nonceSecret: randomBytes(32),
        requireNonce: () => options.nonces ?? false,
      },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: describeResource,
        useGrantedResource: () => true,
      },
      ...(options.documents !== undefined && {
        clientIdMetadataDocument: { enabled: true, ack: 'draft-02' },
      }),
    },
    ...(options.documents !== undefined && { fetch: lookUpIn(options.documents) }),
  };
  const provider = new Provider(issuer, configuration);
  if (assertionIssuers.length > 0) acceptAssertions(provider, assertionIssuers, describeResource);
  return provider;
}

/** The pages of the device flow as bare forms. */
const DEVICE_PAGES = {
  userCodeInputSource(context: { body: unknown }, form: string): void {
    context.body = form;
  },
  userCodeConfirmSource(context: { body: unknown }, form: string): void {
    context.body = form;
  },
  successSource(context: { body: unknown }): void {
    context.body = 'done';
  },
};

/** No document is fetched from the network: tests stay on this machine. */
const lookUpIn =
  (documents: Readonly<Record<string, object>>) =>
  async (input: string | URL | Request): Promise<Response> => {
    const document = documents[input instanceof Request ? input.url : String(input)];
    return document === undefined
      ? new Response(null, { status: 404 })
      : new Response(JSON.stringify(document), { headers: { 'content-type': 'application/json' } });
  };
