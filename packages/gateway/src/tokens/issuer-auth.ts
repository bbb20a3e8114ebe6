/** For teams: accepts tokens of an authorization server in addition to the daemon's own. */
import { createGuardedFetch, type DaemonSettings } from 'turnbuckle/host';
import type { AuthenticatorOptions } from '../http/authenticate.js';
import type { Route } from '../http/route.js';
import type { Credentials } from '../identity/identity.js';
import { joinCredentials } from './join-credentials.js';
import { JwtVerifier } from './jwt-verifier.js';
import { createChallengeInfo, protectedResourceRoutes } from './protected-resource.js';

export interface IssuerAuth extends Pick<AuthenticatorOptions, 'credentials' | 'challengeInfo'> {
  readonly routes: readonly Route[];
}

/** Authentication for the daemon's own tokens, and for those of the configured issuer if there is one. */
export function createIssuerAuth(own: Credentials, issuer: DaemonSettings['issuer']): IssuerAuth {
  if (issuer === undefined) return { credentials: own, routes: [] };
  const { url, resource, scopes, jwksUri } = issuer;
  const facts = { issuer: url, resource, scopes };
  // A configured issuer may be inside the private network.
  const fetch = createGuardedFetch({
    allowedOrigins: jwksUri === undefined ? [url] : [url, jwksUri],
    localServerMayReach: 'loopback',
  });
  return {
    credentials: joinCredentials(own, new JwtVerifier({ ...facts, jwksUri, fetch })),
    challengeInfo: createChallengeInfo(facts),
    routes: protectedResourceRoutes(facts),
  };
}
