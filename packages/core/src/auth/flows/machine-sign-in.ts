/** The sign-in without a user: authorization server, scopes and token. */
import type { DpopSession, FetchLike } from '@modelcontextprotocol/client';
import type { MachineConfig } from '../../config/schema/auth-schema.js';
import { authorizationServerChanged, type Challenge } from '../auth-errors.js';
import { findAuthorizationServer } from '../client/authorization-server.js';
import { createDpopKey, type DpopKey, openDpopSession } from '../client/dpop-key.js';
import { scopeFor } from '../client/scopes.js';
import type { AuthorizationServer, SignIn } from '../sign-in-store.js';
import { requestMachineTokens } from './machine-grant.js';

export interface MachineSignInOptions {
  readonly server: string;
  readonly serverUrl: string;
  readonly config: MachineConfig;
  readonly account: string;
  readonly stored: SignIn | undefined;
  readonly challenge: Challenge | undefined;
  /** From the stored key, with its known nonces. */
  readonly dpop: DpopSession | undefined;
  readonly fetch: FetchLike;
  readonly now: () => number;
}

export async function signInMachine(options: MachineSignInOptions): Promise<SignIn> {
  const { server, serverUrl, config, account, stored, challenge, fetch, now } = options;
  const authorizationServer = await chooseServer(options);
  const requestedScope = chooseScope(authorizationServer, options);
  const wanted = 'dpop' in config ? config.dpop : undefined;
  const bound = wanted ?? challenge?.dpop ?? stored?.dpopKey !== undefined;
  const dpopKey = bound ? (stored?.dpopKey ?? (await createDpopKey())) : undefined;
  const tokens = await requestMachineTokens({
    server,
    config,
    authorizationServer,
    scope: requestedScope,
    dpop: dpopKey && (await sessionOf(dpopKey, options.dpop)),
    fetch,
    now,
  });
  const client = { client_id: config.clientId ?? '' };
  return { version: 1, serverUrl, account, authorizationServer, client, requestedScope, tokens, dpopKey };
}

const sessionOf = async (key: DpopKey, open: DpopSession | undefined): Promise<DpopSession> =>
  open?.thumbprint === key.thumbprint ? open : openDpopSession(key);

/** The previous authorization server, unless it has to be rediscovered; the secret is not sent to a different one. */
async function chooseServer(options: MachineSignInOptions): Promise<AuthorizationServer> {
  const { server, config, stored, challenge } = options;
  const was = stored?.authorizationServer;
  const named = config.issuer ?? config.tokenUrl;
  if (challenge === undefined && was !== undefined && named === undefined) return was;
  const found = await findAuthorizationServer({ ...options, endpoints: config });
  if (named === undefined && was !== undefined && was.issuer !== found.issuer)
    throw authorizationServerChanged(server, { was: was.issuer, is: found.issuer });
  return found;
}

function chooseScope(
  authorizationServer: AuthorizationServer,
  { config, stored, challenge }: MachineSignInOptions,
): string | undefined {
  if (challenge === undefined && stored !== undefined) return stored.requestedScope;
  const previous = challenge?.error === 'insufficient_scope' ? stored?.requestedScope : undefined;
  return scopeFor(authorizationServer, { configured: config.scopes, challenge, previous, renewable: false });
}
