/** The device flow (RFC 8628): the user enters a code on another device, while we poll for the token. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { DpopSession, FetchLike, OAuthClientInformationMixed } from '@modelcontextprotocol/client';
import { monotonicNow } from '../../async/monotonic-now.js';
import { TurnbuckleError } from '../../errors.js';
import type { PageGuard } from '../../fetching/page-guard.js';
import { isRecord } from '../../json/is-record.js';
import { shellQuote } from '../../text/shell-quote.js';
import { authFailed, isTransient, oauthCode } from '../auth-errors.js';
import { isSafeAddress } from '../client/authorization-server.js';
import { authenticationOf } from '../client/client-authentication.js';
import { noAuthorizationServer } from '../sign-in-errors.js';
import type { SignInPrompts } from '../sign-in-prompts.js';
import type { AuthorizationServer } from '../sign-in-store.js';
import type { Tokens } from '../tokens.js';
import { promptUnavailable, runPrompt } from './code-flow.js';
import { requireSafePage } from './safe-page.js';
import { requestTokens } from './token-request.js';

export interface DeviceFlowOptions {
  readonly server: string;
  readonly authorizationServer: AuthorizationServer;
  readonly client: OAuthClientInformationMixed;
  readonly prompts: SignInPrompts;
  readonly scope: string | undefined;
  readonly dpop: DpopSession | undefined;
  readonly fetch: FetchLike;
  readonly checkPage: PageGuard;
  readonly now: () => number;
  readonly signal: AbortSignal;
}

export const DEVICE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code';
const MAX_CODE_LIFETIME_MS = 30 * 60_000;
const MAX_INTERVAL_MS = 60_000;

export async function runDeviceFlow(options: DeviceFlowOptions): Promise<Tokens> {
  const { server, prompts, signal } = options;
  const { showCode } = prompts;
  if (showCode === undefined) throw promptUnavailable(server);
  const offer = await requestDeviceCode(options);
  await requireSafePage(offer.url, options);
  await runPrompt(server, () => showCode({ server, url: offer.url, code: offer.userCode }));
  let waitMs = offer.intervalMs;
  while (monotonicNow() < offer.expiresAt) {
    await sleep(waitMs, undefined, { signal });
    try {
      return await requestTokens({
        ...options,
        parameters: { grant_type: DEVICE_GRANT, device_code: offer.deviceCode },
      });
    } catch (error) {
      const code = oauthCode(error);
      if (code === 'slow_down') waitMs = Math.min(waitMs + 5_000, MAX_INTERVAL_MS);
      else if (isTransient(error)) waitMs = Math.min(waitMs * 2, MAX_INTERVAL_MS);
      else if (code !== 'authorization_pending')
        throw authFailed(server, 'waiting for the code to be entered', error);
    }
  }
  throw new TurnbuckleError('AUTH_FAILED', `The code for server "${server}" expired before it was entered.`, {
    server,
    hint: `Try again: turnbuckle login ${shellQuote(server)} --device`,
  });
}

interface DeviceAuthorization {
  readonly deviceCode: string;
  readonly userCode: string;
  readonly url: string;
  readonly intervalMs: number;
  /** By the monotonic clock. */
  readonly expiresAt: number;
}

async function requestDeviceCode(options: DeviceFlowOptions): Promise<DeviceAuthorization> {
  const { server, authorizationServer, client, scope, fetch } = options;
  const { metadata, resource } = authorizationServer;
  const endpoint = deviceEndpoint(server, authorizationServer);
  let body: unknown;
  try {
    const form = new URLSearchParams({ resource, ...(scope !== undefined && { scope }) });
    const headers = new Headers({
      accept: 'application/json',
      'content-type': 'application/x-www-form-urlencoded',
    });
    await authenticationOf(client)(headers, form, endpoint, metadata);
    const response = await fetch(endpoint, { method: 'POST', headers, body: form.toString() });
    body = await response.json();
    if (!response.ok)
      throw Object.assign(new Error('refused'), { code: isRecord(body) ? body.error : undefined });
  } catch (cause) {
    throw authFailed(server, 'requesting a code', cause);
  }
  const { device_code, user_code, verification_uri, verification_uri_complete, interval, expires_in } =
    isRecord(body) ? body : {};
  const url = typeof verification_uri_complete === 'string' ? verification_uri_complete : verification_uri;
  if (typeof device_code !== 'string' || typeof user_code !== 'string' || typeof url !== 'string')
    throw authFailed(server, 'requesting a code', new Error('unusable response'));
  const lifeMs = typeof expires_in === 'number' && expires_in > 0 ? expires_in * 1_000 : MAX_CODE_LIFETIME_MS;
  const intervalMs = typeof interval === 'number' && interval > 0 ? interval * 1_000 : 5_000;
  return {
    deviceCode: device_code,
    userCode: user_code.replace(/[^\x21-\x7e ]/g, '').slice(0, 64),
    url,
    intervalMs: Math.min(intervalMs, MAX_INTERVAL_MS),
    expiresAt: monotonicNow() + Math.min(lifeMs, MAX_CODE_LIFETIME_MS),
  };
}

/** The device authorization endpoint; AUTH_FAILED if it is not supported. */
export function deviceEndpoint(server: string, { metadata }: AuthorizationServer): string {
  if (metadata === undefined) throw noAuthorizationServer(server);
  const endpoint: unknown = Reflect.get(metadata, 'device_authorization_endpoint');
  if (typeof endpoint !== 'string' || !isSafeAddress(endpoint)) throw deviceFlowUnsupported(server);
  return endpoint;
}

function deviceFlowUnsupported(server: string): TurnbuckleError {
  return new TurnbuckleError(
    'AUTH_FAILED',
    `The authorization server for server "${server}" does not support device sign-in.`,
    { server, hint: `Sign in with a browser (turnbuckle login ${shellQuote(server)}), or with --paste.` },
  );
}
