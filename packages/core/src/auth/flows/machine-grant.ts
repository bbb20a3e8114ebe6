/** Tokens without a user: by a client secret or key, a platform assertion, or an identity provider. */
import {
  type AddClientAuthentication,
  createPrivateKeyJwtAuth,
  type DpopSession,
  type FetchLike,
  type OAuthClientInformationMixed,
  requestJwtAuthorizationGrant,
} from '@modelcontextprotocol/client';
import type { MachineConfig } from '../../config/schema/auth-schema.js';
import { TurnbuckleError } from '../../errors.js';
import { readFileText, whyUnreadable } from '../../files/read-file.js';
import { authFailed } from '../auth-errors.js';
import type { AuthorizationServer } from '../sign-in-store.js';
import type { Tokens } from '../tokens.js';
import { requestTokens } from './token-request.js';

export interface MachineGrantOptions {
  readonly server: string;
  readonly config: MachineConfig;
  readonly authorizationServer: AuthorizationServer;
  readonly scope: string | undefined;
  readonly dpop?: DpopSession | undefined;
  readonly fetch: FetchLike;
  readonly now: () => number;
}

const MAX_FILE_BYTES = 64 * 1_024;
const JWT_BEARER = 'urn:ietf:params:oauth:grant-type:jwt-bearer';

export async function requestMachineTokens(options: MachineGrantOptions): Promise<Tokens> {
  const { server, authorizationServer, scope, dpop, fetch, now } = options;
  try {
    const grant = await prepareGrant(options);
    return await requestTokens({
      server,
      authorizationServer,
      client: grant.client,
      parameters: { ...grant.parameters, scope },
      addClientAuthentication: grant.addClientAuthentication,
      dpop,
      fetch,
      now,
    });
  } catch (cause) {
    throw authFailed(server, 'requesting a token', cause);
  }
}

interface Grant {
  readonly client: OAuthClientInformationMixed | undefined;
  readonly parameters: Readonly<Record<string, string | undefined>>;
  readonly addClientAuthentication?: AddClientAuthentication | undefined;
}

async function prepareGrant(options: MachineGrantOptions): Promise<Grant> {
  const { server, config } = options;
  switch (config.type) {
    case 'client-credentials': {
      const parameters = { grant_type: 'client_credentials' };
      const { clientId, privateKey, privateKeyPath, algorithm } = config;
      if (privateKey === undefined && privateKeyPath === undefined)
        return { client: clientOf(config), parameters };
      const addClientAuthentication = createPrivateKeyJwtAuth({
        issuer: clientId,
        subject: clientId,
        privateKey: privateKey ?? (await readText(server, 'privateKeyPath', privateKeyPath)),
        alg: algorithm,
      });
      return { client: { client_id: clientId }, parameters, addClientAuthentication };
    }
    case 'workload-identity': {
      const assertion = config.assertion ?? (await readText(server, 'assertionPath', config.assertionPath));
      return {
        client: config.clientId === undefined ? undefined : publicClient(config.clientId),
        parameters: { grant_type: JWT_BEARER, assertion },
      };
    }
    case 'enterprise':
      return {
        client: clientOf(config),
        parameters: { grant_type: JWT_BEARER, assertion: await fetchIdpAssertion(config, options) },
      };
  }
}

const publicClient = (clientId: string): OAuthClientInformationMixed =>
  Object.assign({ client_id: clientId }, { token_endpoint_auth_method: 'none' });

const clientOf = ({
  clientId,
  clientSecret,
}: {
  clientId: string;
  clientSecret?: string | undefined;
}): OAuthClientInformationMixed =>
  clientSecret === undefined ? publicClient(clientId) : { client_id: clientId, client_secret: clientSecret };

/** The identity provider exchanges the user's identity for a grant for this server. */
async function fetchIdpAssertion(
  { idp }: Extract<MachineConfig, { type: 'enterprise' }>,
  { server, authorizationServer, scope, fetch }: MachineGrantOptions,
): Promise<string> {
  const { jwtAuthGrant } = await requestJwtAuthorizationGrant({
    tokenEndpoint: idp.tokenUrl,
    audience: authorizationServer.issuer,
    resource: authorizationServer.resource,
    idToken: idp.idToken ?? (await readText(server, 'idp.idTokenPath', idp.idTokenPath)),
    clientId: idp.clientId,
    ...(idp.clientSecret !== undefined && { clientSecret: idp.clientSecret }),
    ...(scope !== undefined && { scope }),
    fetchFn: fetch,
  });
  return jwtAuthGrant;
}

/** Read each time, because the file is replaced from outside. */
async function readText(server: string, key: string, path: string | undefined): Promise<string> {
  if (path === undefined) {
    throw new TurnbuckleError('CONFIG_INVALID', `Missing auth.${key} for server "${server}".`, {
      server,
      hint: `Set auth.${key} to the path of a file, or auth.${key.replace(/Path$/, '')} to the content of the file.`,
    });
  }
  try {
    return (await readFileText(path, { maxBytes: MAX_FILE_BYTES })).trim();
  } catch (cause) {
    throw new TurnbuckleError(
      'AUTH_FAILED',
      `Cannot read the auth file for server "${server}": ${whyUnreadable(cause)}.`,
      {
        server,
        cause,
        hint: `Check ${path}.`,
        data: { file: path },
      },
    );
  }
}
