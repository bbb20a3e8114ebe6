/** Who we are to an authorization server: registered before, by the address of a document, or on the spot. */
import {
  type FetchLike,
  isHttpsUrl,
  type OAuthClientInformationMixed,
  registerClient,
} from '@modelcontextprotocol/client';
import type { OAuthConfig } from '../config/auth-schema.js';
import { TurnbuckleError } from '../errors.js';
import { authFailed } from './auth-errors.js';
import { DEVICE_GRANT } from './device-flow.js';
import { offersNoSignIn } from './sign-in-errors.js';
import type { AuthorizationServer } from './sign-in-store.js';

export interface RegistrationOptions {
  readonly server: string;
  readonly config: Pick<OAuthConfig, 'clientId' | 'clientSecret' | 'clientMetadataUrl'>;
  /** Absent: no browser comes back, the program signs in by code. */
  readonly redirectUri?: string | undefined;
  readonly scope: string | undefined;
  readonly fetch: FetchLike;
}

/** Can this client be known without telling the authorization server a redirect address? */
export function isKnownClient(
  { metadata }: AuthorizationServer,
  config: RegistrationOptions['config'],
): boolean {
  return config.clientId !== undefined || byDocument(metadata, config) !== undefined;
}

export async function registerOurselves(
  { url, metadata }: AuthorizationServer,
  { server, config, redirectUri, scope, fetch }: RegistrationOptions,
): Promise<OAuthClientInformationMixed> {
  const { clientId, clientSecret } = config;
  if (clientId !== undefined)
    return { client_id: clientId, ...(clientSecret !== undefined && { client_secret: clientSecret }) };
  const document = byDocument(metadata, config);
  if (document !== undefined) return { client_id: document };
  if (metadata !== undefined && metadata.registration_endpoint === undefined) throw unregistered(server);
  try {
    return await registerClient(url, {
      ...(metadata !== undefined && { metadata }),
      clientMetadata: {
        client_name: 'Turnbuckle',
        application_type: 'native',
        ...(redirectUri === undefined ? BY_CODE : { ...BY_BROWSER, redirect_uris: [redirectUri] }),
        token_endpoint_auth_method: authMethod(metadata?.token_endpoint_auth_methods_supported),
      },
      ...(scope !== undefined && { scope }),
      fetchFn: fetch,
    });
  } catch (cause) {
    // Nothing said that there is one; it was looked for where servers of an old revision have it.
    if (metadata === undefined && !isSilence(cause)) throw offersNoSignIn(server, cause);
    throw authFailed(server, 'registering with its authorization server', cause);
  }
}

/** No answer at all, which may be another one later. */
const isSilence = (cause: unknown): boolean => cause instanceof TypeError || cause instanceof TurnbuckleError;

const BY_BROWSER = { grant_types: ['authorization_code', 'refresh_token'], response_types: ['code'] };
const BY_CODE = { grant_types: [DEVICE_GRANT, 'refresh_token'], response_types: [], redirect_uris: [] };

function byDocument(
  metadata: AuthorizationServer['metadata'],
  { clientMetadataUrl }: RegistrationOptions['config'],
): string | undefined {
  if (metadata?.client_id_metadata_document_supported !== true) return undefined;
  return clientMetadataUrl !== undefined && isHttpsUrl(clientMetadataUrl) ? clientMetadataUrl : undefined;
}

/** A program on a person's machine keeps no secret, so none is asked for where that is allowed. */
function authMethod(supported: readonly string[] | undefined): string {
  if (supported === undefined || supported.includes('none')) return 'none';
  return supported.find((method) => method.startsWith('client_secret_')) ?? 'none';
}

function unregistered(server: string): TurnbuckleError {
  return new TurnbuckleError(
    'AUTH_FAILED',
    `The authorization server of server "${server}" does not support dynamic client registration.`,
    { server, hint: 'Register one there and put its id into auth.clientId (and auth.clientSecret).' },
  );
}
