/** Our client at an authorization server: stored, identified by a metadata document, or registered dynamically. */
import {
  type FetchLike,
  isHttpsUrl,
  type OAuthClientInformationMixed,
  registerClient,
} from '@modelcontextprotocol/client';
import type { OAuthConfig } from '../../config/schema/auth-schema.js';
import { TurnbuckleError } from '../../errors.js';
import { authFailed } from '../auth-errors.js';
import { DEVICE_GRANT } from '../flows/device-flow.js';
import { noAuthorizationServer } from '../sign-in-errors.js';
import type { AuthorizationServer } from '../sign-in-store.js';

export interface RegistrationOptions {
  readonly server: string;
  readonly config: Pick<OAuthConfig, 'clientId' | 'clientSecret' | 'clientMetadataUrl'>;
  /** Absent: device flow, without a redirect. */
  readonly redirectUri?: string | undefined;
  readonly scope: string | undefined;
  readonly fetch: FetchLike;
}

/** Whether the client can be identified without registering a redirect URI. */
export function isKnownClient(
  { metadata }: AuthorizationServer,
  config: RegistrationOptions['config'],
): boolean {
  return config.clientId !== undefined || metadataDocumentUrl(metadata, config) !== undefined;
}

export async function resolveClient(
  { url, metadata }: AuthorizationServer,
  { server, config, redirectUri, scope, fetch }: RegistrationOptions,
): Promise<OAuthClientInformationMixed> {
  const { clientId, clientSecret } = config;
  if (clientId !== undefined)
    return { client_id: clientId, ...(clientSecret !== undefined && { client_secret: clientSecret }) };
  const document = metadataDocumentUrl(metadata, config);
  if (document !== undefined) return { client_id: document };
  if (metadata !== undefined && metadata.registration_endpoint === undefined)
    throw registrationUnsupported(server);
  try {
    return await registerClient(url, {
      ...(metadata !== undefined && { metadata }),
      clientMetadata: {
        client_name: 'Turnbuckle',
        application_type: 'native',
        ...(redirectUri === undefined ? DEVICE_GRANTS : { ...BROWSER_GRANTS, redirect_uris: [redirectUri] }),
        token_endpoint_auth_method: authMethod(metadata?.token_endpoint_auth_methods_supported),
      },
      ...(scope !== undefined && { scope }),
      fetchFn: fetch,
    });
  } catch (cause) {
    // No metadata named it; registration was tried at the default path of older revisions.
    if (metadata === undefined && !isNoResponse(cause)) throw noAuthorizationServer(server, cause);
    throw authFailed(server, 'registering with its authorization server', cause);
  }
}

/** No response at all: may be temporary. */
const isNoResponse = (cause: unknown): boolean =>
  cause instanceof TypeError || cause instanceof TurnbuckleError;

const BROWSER_GRANTS = { grant_types: ['authorization_code', 'refresh_token'], response_types: ['code'] };
const DEVICE_GRANTS = { grant_types: [DEVICE_GRANT, 'refresh_token'], response_types: [], redirect_uris: [] };

function metadataDocumentUrl(
  metadata: AuthorizationServer['metadata'],
  { clientMetadataUrl }: RegistrationOptions['config'],
): string | undefined {
  if (metadata?.client_id_metadata_document_supported !== true) return undefined;
  return clientMetadataUrl !== undefined && isHttpsUrl(clientMetadataUrl) ? clientMetadataUrl : undefined;
}

/** A program on a user's machine cannot keep a secret, so it requests none if possible. */
function authMethod(supported: readonly string[] | undefined): string {
  if (supported === undefined || supported.includes('none')) return 'none';
  return supported.find((method) => method.startsWith('client_secret_')) ?? 'none';
}

function registrationUnsupported(server: string): TurnbuckleError {
  return new TurnbuckleError(
    'AUTH_FAILED',
    `The authorization server for server "${server}" does not support dynamic client registration.`,
    {
      server,
      hint: 'Register a client with the authorization server, then set auth.clientId and, if the client has a secret, auth.clientSecret.',
    },
  );
}
