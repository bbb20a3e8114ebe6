/** The sign-in of a user: authorization server, client, scopes, then one of the flows. */
import { randomBytes } from 'node:crypto';
import { type FetchLike, isStrictScopeSuperset } from '@modelcontextprotocol/client';
import type { OAuthConfig } from '../config/schema/auth-schema.js';
import { TurnbuckleError } from '../errors.js';
import type { PageGuard } from '../fetching/page-guard.js';
import { authorizationServerChanged, type Challenge } from './auth-errors.js';
import { findAuthorizationServer, requirePkce } from './client/authorization-server.js';
import { isKnownClient, resolveClient } from './client/client-registration.js';
import { createDpopKey, openDpopSession } from './client/dpop-key.js';
import { scopeFor } from './client/scopes.js';
import { CallbackReceiver } from './flows/callback-receiver.js';
import { runCodeFlow } from './flows/code-flow.js';
import { type DeviceFlowOptions, deviceEndpoint, runDeviceFlow } from './flows/device-flow.js';
import type { SignInMethod, SignInPrompts } from './sign-in-prompts.js';
import type { AuthorizationServer, SignIn } from './sign-in-store.js';
import type { Tokens } from './tokens.js';

export interface SignInOptions {
  readonly server: string;
  readonly serverUrl: string;
  readonly config: Partial<OAuthConfig>;
  readonly account: string;
  readonly challenge?: Challenge | undefined;
  /** The previous sign-in: its client is reused at the same authorization server. */
  readonly earlier?: SignIn | undefined;
  readonly method: SignInMethod;
  readonly prompts: SignInPrompts;
  /** Scopes besides the configured or required ones. */
  readonly scopes?: readonly string[] | undefined;
  readonly fetch: FetchLike;
  /** Checks whether a page of the authorization server may be shown. */
  readonly checkPage: PageGuard;
  readonly now: () => number;
  readonly signal: AbortSignal;
}

export async function signIn(options: SignInOptions): Promise<SignIn> {
  const { server, serverUrl, config, account, challenge, fetch } = options;
  const authorizationServer = await findAuthorizationServer({
    server,
    serverUrl,
    endpoints: config,
    challenge,
    fetch,
  });
  const earlier = earlierAtSameIssuer(options, authorizationServer);
  const requestedScope = scopeFor(authorizationServer, {
    configured: options.scopes ?? config.scopes,
    challenge,
    previous: earlier?.tokens?.scope ?? earlier?.requestedScope,
    renewable: true,
  });
  const way = await prepareFlow(options, authorizationServer, { earlier, requestedScope });
  try {
    const client =
      way.client ??
      (await resolveClient(authorizationServer, {
        server,
        config,
        redirectUri: way.redirectUri,
        scope: requestedScope,
        fetch,
      }));
    const bound = config.dpop ?? challenge?.dpop ?? earlier?.dpopKey !== undefined;
    const dpopKey = bound ? (earlier?.dpopKey ?? (await createDpopKey())) : undefined;
    const dpop = dpopKey === undefined ? undefined : await openDpopSession(dpopKey);
    const tokens = await runFlow(options, way, { authorizationServer, client, scope: requestedScope, dpop });
    const { redirectUri } = way;
    return {
      version: 1,
      serverUrl,
      account,
      authorizationServer,
      client,
      redirectUri,
      requestedScope,
      tokens,
      dpopKey,
    };
  } finally {
    way.receiver?.close();
  }
}

function runFlow(
  { server, prompts, fetch, checkPage, now, signal }: SignInOptions,
  { redirectUri, receiver }: FlowSetup,
  facts: Pick<DeviceFlowOptions, 'authorizationServer' | 'client' | 'scope' | 'dpop'>,
): Promise<Tokens> {
  const flow = { ...facts, server, prompts, fetch, checkPage, now, signal };
  return redirectUri === undefined ? runDeviceFlow(flow) : runCodeFlow({ ...flow, redirectUri, receiver });
}

/** Credentials of one authorization server are never sent to another, unless the configuration names that one. */
function earlierAtSameIssuer(
  { server, config, earlier }: SignInOptions,
  { issuer }: AuthorizationServer,
): SignIn | undefined {
  const was = earlier?.authorizationServer.issuer;
  if (was === undefined || was === issuer) return earlier;
  if (config.clientSecret !== undefined && config.issuer === undefined && config.tokenUrl === undefined)
    throw authorizationServerChanged(server, { was, is: issuer });
  return undefined;
}

interface FlowSetup {
  /** Absent: the device flow. */
  readonly redirectUri?: string | undefined;
  readonly receiver?: CallbackReceiver | undefined;
  /** A client registered earlier that is valid for this redirect URI. */
  readonly client?: SignIn['client'] | undefined;
}

async function prepareFlow(
  { server, config, method }: SignInOptions,
  authorizationServer: AuthorizationServer,
  { earlier, requestedScope }: { earlier: SignIn | undefined; requestedScope: string | undefined },
): Promise<FlowSetup> {
  const known = isKnownClient(authorizationServer, config);
  const reused =
    known || earlier === undefined || !isReusable(earlier, method, requestedScope)
      ? undefined
      : earlier.client;
  if (method === 'device') {
    deviceEndpoint(server, authorizationServer);
    return { client: reused };
  }
  requirePkce(server, authorizationServer);
  // An unguessable path, if we choose it.
  const path = known ? '/callback' : `/callback/${randomBytes(16).toString('base64url')}`;
  if (method === 'paste') {
    const redirectUri =
      config.redirectUri ?? (reused && earlier?.redirectUri) ?? `http://127.0.0.1:33418${path}`;
    return { redirectUri, client: reused };
  }
  const fixed = config.redirectUri;
  if (fixed !== undefined) return withReceiver(await openReceiver(server, fixed, path), reused);
  if (reused !== undefined && earlier?.redirectUri !== undefined) {
    const receiver = await CallbackReceiver.open({ redirectUri: earlier.redirectUri, path }).catch(
      () => undefined,
    );
    if (receiver !== undefined) return withReceiver(receiver, reused);
  }
  return withReceiver(await openReceiver(server, undefined, path), undefined);
}

/** A client registered for one flow or scope is not used for others. */
function isReusable(
  { redirectUri, client }: SignIn,
  method: SignInMethod,
  scope: string | undefined,
): boolean {
  const registered = 'scope' in client ? client.scope : undefined;
  const wide = registered === undefined || !isStrictScopeSuperset(scope, registered);
  return wide && (redirectUri === undefined) === (method === 'device');
}

const withReceiver = (receiver: CallbackReceiver, client: FlowSetup['client']): FlowSetup => ({
  receiver,
  redirectUri: receiver.redirectUri,
  client,
});

async function openReceiver(
  server: string,
  redirectUri: string | undefined,
  path: string,
): Promise<CallbackReceiver> {
  try {
    return await CallbackReceiver.open({ redirectUri, path });
  } catch (cause) {
    throw new TurnbuckleError(
      'AUTH_FAILED',
      `Cannot listen on the local port for the sign-in to server "${server}".`,
      {
        server,
        cause,
        hint: `Free the port${redirectUri === undefined ? '' : ` (${redirectUri})`}, or sign in with --paste.`,
      },
    );
  }
}
