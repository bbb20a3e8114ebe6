/** For teams: besides the daemon's own tokens those of an authorization server are good here. */
import { createGuardedFetch, type DaemonSettings } from 'turnbuckle';
import type { DoorOptions } from '../http/doors.js';
import type { Route } from '../http/route.js';
import type { Credentials } from '../http/visitor.js';
import { joinCredentials } from './join-credentials.js';
import { JwtVerifier } from './jwt-verifier.js';
import { createTokenGuide, protectedResourceRoutes } from './protected-resource.js';

export interface IssuerDoors extends Pick<DoorOptions, 'credentials' | 'guide'> {
  readonly routes: readonly Route[];
}

/** The doors for tokens of the configured issuer, if there is one, and for our own. */
export function createIssuerDoors(own: Credentials, issuer: DaemonSettings['issuer']): IssuerDoors {
  if (issuer === undefined) return { credentials: own, routes: [] };
  const { url, resource, scopes, jwksUri } = issuer;
  const facts = { issuer: url, resource, scopes };
  // Who configured the issuer may well mean one inside the network.
  const fetch = createGuardedFetch({
    allowedOrigins: jwksUri === undefined ? [url] : [url, jwksUri],
    insideIfServerInside: 'loopback',
  });
  return {
    credentials: joinCredentials(own, new JwtVerifier({ ...facts, jwksUri, fetch })),
    guide: createTokenGuide(facts),
    routes: protectedResourceRoutes(facts),
  };
}
