/** The device flow (RFC 8628): a code is shown here, typed in on any other machine, and asked for until it is done. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { DpopSession, FetchLike, OAuthClientInformationMixed } from '@modelcontextprotocol/client';
import { TurnbuckleError } from '../errors.js';
import type { PageGuard } from '../fetching/page-guard.js';
import { isRecord } from '../is-record.js';
import { authFailed, isPassing, oauthCode } from './auth-errors.js';
import { isSafeAddress } from './authorization-server.js';
import { authenticationOf } from './client-authentication.js';
import { nobodyToAsk, shown } from './code-flow.js';
import { requireSafePage } from './safe-page.js';
import { offersNoSignIn } from './sign-in-errors.js';
import type { SignInPrompts } from './sign-in-prompts.js';
import type { AuthorizationServer } from './sign-in-store.js';
import { requestTokens } from './token-request.js';
import type { Tokens } from './tokens.js';

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
const MAX_LIFE_MS = 30 * 60_000;
const MAX_INTERVAL_MS = 60_000;

export async function runDeviceFlow(options: DeviceFlowOptions): Promise<Tokens> {
  const { server, prompts, now, signal } = options;
  const { showCode } = prompts;
  if (showCode === undefined) throw nobodyToAsk(server);
  const offer = await askForCode(options);
  await requireSafePage(offer.url, options);
  await shown(server, () => showCode({ server, url: offer.url, code: offer.userCode }));
  let waitMs = offer.intervalMs;
  while (now() < offer.expiresAt) {
    await sleep(waitMs, undefined, { signal });
    try {
      return await requestTokens({
        ...options,
        parameters: { grant_type: DEVICE_GRANT, device_code: offer.deviceCode },
      });
    } catch (error) {
      const code = oauthCode(error);
      if (code === 'slow_down') waitMs = Math.min(waitMs + 5_000, MAX_INTERVAL_MS);
      else if (isPassing(error)) waitMs = Math.min(waitMs * 2, MAX_INTERVAL_MS);
      else if (code !== 'authorization_pending')
        throw authFailed(server, 'waiting for the code to be typed in', error);
    }
  }
  throw new TurnbuckleError('AUTH_FAILED', `The code for server "${server}" was not typed in in time.`, {
    server,
    hint: `Try again: turnbuckle login ${server} --device`,
  });
}

interface Offer {
  readonly deviceCode: string;
  readonly userCode: string;
  readonly url: string;
  readonly intervalMs: number;
  readonly expiresAt: number;
}

async function askForCode(options: DeviceFlowOptions): Promise<Offer> {
  const { server, authorizationServer, client, scope, fetch, now } = options;
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
    throw authFailed(server, 'asking for a code', cause);
  }
  const { device_code, user_code, verification_uri, verification_uri_complete, interval, expires_in } =
    isRecord(body) ? body : {};
  const url = typeof verification_uri_complete === 'string' ? verification_uri_complete : verification_uri;
  if (typeof device_code !== 'string' || typeof user_code !== 'string' || typeof url !== 'string')
    throw authFailed(server, 'asking for a code', new Error('unusable answer'));
  const lifeMs = typeof expires_in === 'number' && expires_in > 0 ? expires_in * 1_000 : MAX_LIFE_MS;
  const intervalMs = typeof interval === 'number' && interval > 0 ? interval * 1_000 : 5_000;
  return {
    deviceCode: device_code,
    userCode: user_code.replace(/[^\x21-\x7e ]/g, '').slice(0, 64),
    url,
    intervalMs: Math.min(intervalMs, MAX_INTERVAL_MS),
    expiresAt: now() + Math.min(lifeMs, MAX_LIFE_MS),
  };
}

/** Where codes are asked for; AUTH_FAILED where they are not to be had. */
export function deviceEndpoint(server: string, { metadata }: AuthorizationServer): string {
  if (metadata === undefined) throw offersNoSignIn(server);
  const endpoint: unknown = Reflect.get(metadata, 'device_authorization_endpoint');
  if (typeof endpoint !== 'string' || !isSafeAddress(endpoint)) throw noDeviceFlow(server);
  return endpoint;
}

function noDeviceFlow(server: string): TurnbuckleError {
  return new TurnbuckleError(
    'AUTH_FAILED',
    `The authorization server of server "${server}" does not offer sign-in by code.`,
    { server, hint: `Sign in with a browser (turnbuckle login ${server}), or with --paste.` },
  );
}
