/** The authorization code flow (PKCE, state, issuer): the browser returns with a code. */
import { randomBytes } from 'node:crypto';
import {
  type DpopSession,
  exchangeAuthorization,
  type FetchLike,
  type OAuthClientInformationMixed,
  startAuthorization,
  validateAuthorizationResponseIssuer,
} from '@modelcontextprotocol/client';
import { TurnbuckleError } from '../../errors.js';
import type { PageGuard } from '../../fetching/page-guard.js';
import { shellQuote } from '../../text/shell-quote.js';
import { authFailed } from '../auth-errors.js';
import { authenticationOf } from '../client/client-authentication.js';
import type { SignInPrompts } from '../sign-in-prompts.js';
import type { AuthorizationServer } from '../sign-in-store.js';
import { type Tokens, toTokens } from '../tokens.js';
import type { CallbackReceiver } from './callback-receiver.js';
import { requireSafePage } from './safe-page.js';

export interface CodeFlowOptions {
  readonly server: string;
  readonly authorizationServer: AuthorizationServer;
  readonly client: OAuthClientInformationMixed;
  readonly redirectUri: string;
  /** Absent: the user pastes the URL. */
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
    throw authFailed(server, 'preparing the authorization page', cause);
  });
  await requireSafePage(authorizationUrl.href, options);
  const answer = await authorizeInBrowser(authorizationUrl.href, state, options);
  // Without a configured issuer there is nothing to compare with.
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
    throw authFailed(server, 'exchanging the code for a token', cause);
  }
}

/** The returned parameters, with the state that was sent. */
async function authorizeInBrowser(
  url: string,
  state: string,
  { server, receiver, prompts, signal }: CodeFlowOptions,
): Promise<URLSearchParams> {
  const page = { server, url };
  if (receiver !== undefined) {
    const received = receiver.receive(state, signal);
    // If showing the page fails, this promise has no other handler.
    received.catch(() => {});
    await runPrompt(server, () => prompts.open(page));
    return received;
  }
  const { paste } = prompts;
  if (paste === undefined) throw promptUnavailable(server);
  await runPrompt(server, () => prompts.open(page));
  const pasted = (await runPrompt(server, () => paste(page, signal))).trim();
  const parameters = URL.canParse(pasted) ? new URL(pasted).searchParams : new URLSearchParams();
  if (parameters.get('state') !== state) {
    throw new TurnbuckleError(
      'AUTH_FAILED',
      `The pasted URL does not belong to this sign-in to "${server}".`,
      {
        server,
        hint: 'Paste the complete URL that the browser was redirected to during this sign-in.',
      },
    );
  }
  return parameters;
}

/** Calls a prompt of the host; its failure is a failure of the sign-in. */
export async function runPrompt<T>(server: string, show: () => T | Promise<T>): Promise<T> {
  try {
    return await show();
  } catch (cause) {
    throw authFailed(server, 'showing the authorization page', cause);
  }
}

export function promptUnavailable(server: string): TurnbuckleError {
  return new TurnbuckleError('AUTH_REQUIRED', `Sign-in to server "${server}" requires user interaction.`, {
    server,
    hint: `Sign in from a terminal: turnbuckle login ${shellQuote(server)}`,
  });
}
