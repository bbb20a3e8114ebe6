/** How far a sign-in may lead: what is fetched for it, and the pages that a person is sent to. */
import type { AuthConfig } from '../config/auth-schema.js';
import { createGuardedFetch, type GuardedFetch, type GuardOptions } from '../fetching/guarded-fetch.js';
import { createPageGuard, type PageGuard } from '../fetching/page-guard.js';

export interface SignInNetwork {
  readonly fetch: GuardedFetch;
  readonly checkPage: PageGuard;
}

/** Not `redirectUri`: that a browser comes back to this machine does not mean that a server may send us here. */
const PLACES = [
  'issuer',
  'tokenUrl',
  'authUrl',
  'deviceUrl',
  'registrationUrl',
  'revocationUrl',
] as const satisfies readonly (keyof Extract<AuthConfig, { type: 'oauth' }>)[];

/**
 * Addresses in the user's own configuration may lead inside, and beside a server on this machine its authorization
 * server may run; what servers and metadata say leads nowhere else but out.
 */
export function createSignInNetwork(
  serverUrl: string,
  auth: AuthConfig,
  testing: Pick<GuardOptions, 'lookup' | 'dial'> = {},
): SignInNetwork {
  const blocks: readonly object[] = 'idp' in auth ? [auth, auth.idp] : [auth];
  const named = blocks
    .flatMap((block) => PLACES.map((place): unknown => Reflect.get(block, place)))
    .filter((value): value is string => typeof value === 'string' && URL.canParse(value));
  const allowedOrigins = [serverUrl.replace(/^ws/i, 'http'), ...named].map((url) => new URL(url).origin);
  const reach = { allowedOrigins, insideIfServerInside: 'loopback' } as const;
  return {
    fetch: createGuardedFetch({ ...reach, ...testing }),
    checkPage: createPageGuard({ ...reach, lookup: testing.lookup }),
  };
}
