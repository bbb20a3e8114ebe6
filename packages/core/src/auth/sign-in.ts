/** A person signs in: which authorization server, who we are to it, what to ask for, and then one of the flows. */
import { randomBytes } from 'node:crypto';
import { type FetchLike, isStrictScopeSuperset } from '@modelcontextprotocol/client';
import type { OAuthConfig } from '../config/auth-schema.js';
import { TurnbuckleError } from '../errors.js';
import type { PageGuard } from '../fetching/page-guard.js';
import { anotherServer, type Challenge } from './auth-errors.js';
import { findAuthorizationServer, requirePkce } from './authorization-server.js';
import { CallbackReceiver } from './callback-receiver.js';
import { isKnownClient, registerOurselves } from './client-registration.js';
import { runCodeFlow } from './code-flow.js';
import { deviceEndpoint, runDeviceFlow } from './device-flow.js';
import { createDpopKey, openDpopSession } from './dpop-key.js';
import { scopeFor } from './scopes.js';
import type { SignInMethod, SignInPrompts } from './sign-in-prompts.js';
import type { AuthorizationServer, SignIn } from './sign-in-store.js';

export interface SignInOptions {
  readonly server: string;
  readonly serverUrl: string;
  readonly config: Partial<OAuthConfig>;
  readonly account: string;
  readonly challenge?: Challenge | undefined;
  /** The sign-in there was before: its client is used again at the same authorization server. */
  readonly earlier?: SignIn | undefined;
  readonly method: SignInMethod;
  readonly prompts: SignInPrompts;
  /** More than what is configured or asked for. */
  readonly scopes?: readonly string[] | undefined;
  readonly fetch: FetchLike;
  /** Says whether a page of the authorization server may be shown. */
  readonly checkPage: PageGuard;
  readonly now: () => number;
  readonly signal: AbortSignal;
}

export async function signIn(options: SignInOptions): Promise<SignIn> {
  const { server, serverUrl, config, account, challenge, fetch, now, signal } = options;
  const authorizationServer = await findAuthorizationServer({
    server,
    serverUrl,
    places: config,
    challenge,
    fetch,
  });
  const earlier = sameServer(options, authorizationServer);
  const requestedScope = scopeFor(authorizationServer, {
    configured: options.scopes ?? config.scopes,
    challenge,
    previous: earlier?.tokens?.scope ?? earlier?.requestedScope,
    renewable: true,
  });
  const way = await chooseWay(options, authorizationServer, { earlier, requestedScope });
  try {
    const client =
      way.client ??
      (await registerOurselves(authorizationServer, {
        server,
        config,
        redirectUri: way.redirectUri,
        scope: requestedScope,
        fetch,
      }));
    const bound = config.dpop ?? challenge?.dpop ?? earlier?.dpopKey !== undefined;
    const dpopKey = bound ? (earlier?.dpopKey ?? (await createDpopKey())) : undefined;
    const dpop = dpopKey === undefined ? undefined : await openDpopSession(dpopKey);
    const { prompts } = options;
    const flow = {
      server,
      authorizationServer,
      client,
      prompts,
      scope: requestedScope,
      dpop,
      fetch,
      checkPage: options.checkPage,
      now,
      signal,
    };
    const tokens =
      way.redirectUri === undefined
        ? await runDeviceFlow(flow)
        : await runCodeFlow({ ...flow, redirectUri: way.redirectUri, receiver: way.receiver });
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

/** Credentials of one authorization server never go to another, unless the configuration names that one. */
function sameServer(
  { server, config, earlier }: SignInOptions,
  { issuer }: AuthorizationServer,
): SignIn | undefined {
  const was = earlier?.authorizationServer.issuer;
  if (was === undefined || was === issuer) return earlier;
  if (config.clientSecret !== undefined && config.issuer === undefined && config.tokenUrl === undefined)
    throw anotherServer(server, { was, is: issuer });
  return undefined;
}

interface Way {
  /** Absent: the device flow. */
  readonly redirectUri?: string | undefined;
  readonly receiver?: CallbackReceiver | undefined;
  /** Registered earlier, and good for this redirect address. */
  readonly client?: SignIn['client'] | undefined;
}

async function chooseWay(
  { server, config, method }: SignInOptions,
  authorizationServer: AuthorizationServer,
  { earlier, requestedScope }: { earlier: SignIn | undefined; requestedScope: string | undefined },
): Promise<Way> {
  const known = isKnownClient(authorizationServer, config);
  const reused =
    known || earlier === undefined || !fits(earlier, method, requestedScope) ? undefined : earlier.client;
  if (method === 'device') {
    deviceEndpoint(server, authorizationServer);
    return { client: reused };
  }
  requirePkce(server, authorizationServer);
  // A path that nobody can guess, where we are the ones to name it.
  const path = known ? '/callback' : `/callback/${randomBytes(16).toString('base64url')}`;
  if (method === 'paste') {
    const redirectUri =
      config.redirectUri ?? (reused && earlier?.redirectUri) ?? `http://127.0.0.1:33418${path}`;
    return { redirectUri, client: reused };
  }
  const fixed = config.redirectUri;
  if (fixed !== undefined) return receiving(await openReceiver(server, fixed, path), reused);
  if (reused !== undefined && earlier?.redirectUri !== undefined) {
    const receiver = await CallbackReceiver.open({ redirectUri: earlier.redirectUri, path }).catch(
      () => undefined,
    );
    if (receiver !== undefined) return receiving(receiver, reused);
  }
  return receiving(await openReceiver(server, undefined, path), undefined);
}

/** Who was registered for a way to sign in, or for some scopes, is not for others. */
function fits({ redirectUri, client }: SignIn, method: SignInMethod, scope: string | undefined): boolean {
  const registered = 'scope' in client ? client.scope : undefined;
  const wide = registered === undefined || !isStrictScopeSuperset(scope, registered);
  return wide && (redirectUri === undefined) === (method === 'device');
}

const receiving = (receiver: CallbackReceiver, client: Way['client']): Way => ({
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
      `No port is free for the sign-in at server "${server}" to come back to.`,
      {
        server,
        cause,
        hint: `End what uses it${redirectUri === undefined ? '' : ` (${redirectUri})`}, or sign in with --paste.`,
      },
    );
  }
}
