/** The network access of a sign-in: what is fetched, and which pages the user is sent to. */
import type { AuthConfig } from '../config/schema/auth-schema.js';
import {
  createGuardedFetch,
  type GuardedFetch,
  type GuardedFetchOptions,
} from '../fetching/guarded-fetch.js';
import { createPageGuard, type PageGuard } from '../fetching/page-guard.js';

export interface SignInNetwork {
  readonly fetch: GuardedFetch;
  readonly checkPage: PageGuard;
}

/** Not `redirectUri`: a browser that returns to this machine does not allow a server to send us here. */
const ENDPOINT_KEYS = [
  'issuer',
  'tokenUrl',
  'authUrl',
  'deviceUrl',
  'registrationUrl',
  'revocationUrl',
] as const satisfies readonly (keyof Extract<AuthConfig, { type: 'oauth' }>)[];

/**
 * Addresses in the user's own configuration may be private, and a local server may have a local authorization server.
 * Addresses from servers and metadata must be public.
 */
export function createSignInNetwork(
  serverUrl: string,
  auth: AuthConfig,
  testing: Pick<GuardedFetchOptions, 'lookup' | 'dial'> = {},
): SignInNetwork {
  const blocks: readonly object[] = 'idp' in auth ? [auth, auth.idp] : [auth];
  const named = blocks
    .flatMap((block) => ENDPOINT_KEYS.map((place): unknown => Reflect.get(block, place)))
    .filter((value): value is string => typeof value === 'string' && URL.canParse(value));
  const allowedOrigins = [serverUrl.replace(/^ws/i, 'http'), ...named].map((url) => new URL(url).origin);
  const reach = { allowedOrigins, localServerMayReach: 'loopback' } as const;
  return {
    fetch: createGuardedFetch({ ...reach, ...testing }),
    checkPage: createPageGuard({ ...reach, lookup: testing.lookup }),
  };
}
