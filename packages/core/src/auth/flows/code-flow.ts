/** The authorization code flow (PKCE, state, issuer): a person's browser goes there and comes back with a code. */
import { randomBytes } from 'node:crypto';
import {
  type DpopSession,
  exchangeAuthorization,
  type FetchLike,
  type OAuthClientInformationMixed,
  startAuthorization,
  validateAuthorizationResponseIssuer,
} from '@modelcontextprotocol/client';
import { TurnbuckleError } from '../errors.js';
import type { PageGuard } from '../fetching/page-guard.js';
import { authFailed } from './auth-errors.js';
import type { CallbackReceiver } from './callback-receiver.js';
import { authenticationOf } from './client-authentication.js';
import { requireSafePage } from './safe-page.js';
import type { SignInPrompts } from './sign-in-prompts.js';
import type { AuthorizationServer } from './sign-in-store.js';
import { type Tokens, toTokens } from './tokens.js';

export interface CodeFlowOptions {
  readonly server: string;
  readonly authorizationServer: AuthorizationServer;
  readonly client: OAuthClientInformationMixed;
  readonly redirectUri: string;
  /** Absent: the person pastes the address. */
  readonly receiver: CallbackReceiver | undefined;
  readonly prompts: SignInPrompts;
  readonly scope: string | undefined;
  readonly dpop: DpopSession | undefined;
  readonly fetch: FetchLike;
  readonly checkPage: PageGuard;
  readonly now: () => number;
  readonly signal: AbortSignal;
}

export async function runCodeFlow(options: CodeFlowOptions): Promise<Tokens> {
  const { server, authorizationServer, client, redirectUri, scope, dpop, fetch, now } = options;
  const { url, metadata, resource, isIssuerGuessed } = authorizationServer;
  const known = metadata === undefined ? {} : { metadata };
  const state = randomBytes(32).toString('base64url');
  const { authorizationUrl, codeVerifier } = await startAuthorization(url, {
    ...known,
    clientInformation: client,
    redirectUrl: redirectUri,
    ...(scope !== undefined && { scope }),
    state,
    resource,
  }).catch((cause: unknown) => {
    throw authFailed(server, 'preparing the page', cause);
  });
  await requireSafePage(authorizationUrl.href, options);
  const answer = await visit(authorizationUrl.href, state, options);
  // Without an issuer in the configuration there is none to compare with, and no other to be mistaken for.
  const iss = isIssuerGuessed === true ? undefined : (answer.get('iss') ?? undefined);
  try {
    validateAuthorizationResponseIssuer({
      iss,
      expectedIssuer: metadata?.issuer,
      issParameterSupported: metadata?.authorization_response_iss_parameter_supported === true,
    });
    const refusal = answer.get('error');
    if (refusal !== null) throw Object.assign(new Error('refused'), { code: refusal });
    const tokens = await exchangeAuthorization(url, {
      ...known,
      clientInformation: client,
      addClientAuthentication: authenticationOf(client),
      authorizationCode: answer.get('code') ?? '',
      ...(iss !== undefined && { iss }),
      codeVerifier,
      redirectUri,
      resource,
      ...(dpop !== undefined && { dpop }),
      fetchFn: fetch,
    });
    return toTokens(server, tokens, { now: now(), bound: dpop !== undefined });
  } catch (cause) {
    throw authFailed(server, 'trading the code for a token', cause);
  }
}

/** The parameters that came back, with the state that was sent. */
async function visit(
  url: string,
  state: string,
  { server, receiver, prompts, signal }: CodeFlowOptions,
): Promise<URLSearchParams> {
  const page = { server, url };
  if (receiver !== undefined) {
    const received = receiver.receive(state, signal);
    // Whoever shows the page may fail; then nobody waits for the answer any more.
    received.catch(() => {});
    await shown(server, () => prompts.open(page));
    return received;
  }
  const { paste } = prompts;
  if (paste === undefined) throw nobodyToAsk(server);
  await shown(server, () => prompts.open(page));
  const pasted = (await shown(server, () => paste(page, signal))).trim();
  const parameters = URL.canParse(pasted) ? new URL(pasted).searchParams : new URLSearchParams();
  if (parameters.get('state') !== state) {
    throw new TurnbuckleError('AUTH_FAILED', `That address does not belong to this sign-in at "${server}".`, {
      server,
      hint: 'Paste the whole address that the browser ended at, from this very sign-in.',
    });
  }
  return parameters;
}

/** What the host does to reach the person; a failure of its own is one of the sign-in. */
export async function shown<T>(server: string, show: () => T | Promise<T>): Promise<T> {
  try {
    return await show();
  } catch (cause) {
    throw authFailed(server, 'showing the page', cause);
  }
}

export function nobodyToAsk(server: string): TurnbuckleError {
  return new TurnbuckleError('AUTH_REQUIRED', `Signing in at server "${server}" needs a person.`, {
    server,
    hint: `Run it in a terminal: turnbuckle login ${server}`,
  });
}
