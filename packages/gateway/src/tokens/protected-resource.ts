/** Where clients of this daemon get tokens, as defined by RFC 9728. */
import type { ChallengeInfo } from '../http/authenticate.js';
import type { Route } from '../http/route.js';
import type { JwtOptions } from './jwt-verifier.js';

type ResourceFacts = Pick<JwtOptions, 'issuer' | 'resource' | 'scopes'>;

const WELL_KNOWN = '/.well-known/oauth-protected-resource';

/** The part of an error response that says where tokens come from. */
export function createChallengeInfo({ resource, scopes }: ResourceFacts): ChallengeInfo {
  const { origin, pathname } = new URL(resource);
  const path = pathname === '/' ? '' : pathname;
  return {
    metadataUrl: `${origin}${WELL_KNOWN}${path}`,
    scopesFor: (access) =>
      Object.entries(scopes)
        .filter(([, grant]) => access !== 'open' && grant.access?.includes(access))
        .map(([scope]) => scope)
        .join(' '),
  };
}

/** The document; also at the URLs that clients derive from the MCP endpoint. */
export function protectedResourceRoutes({ resource, issuer, scopes }: ResourceFacts): Route[] {
  const document = {
    resource,
    authorization_servers: [issuer],
    scopes_supported: Object.keys(scopes),
    bearer_methods_supported: ['header'],
    resource_name: 'Turnbuckle',
  };
  const { pathname } = new URL(resource);
  const paths = new Set(['', '/mcp', '/mcp/:view', ...(pathname === '/' ? [] : [pathname])]);
  return [...paths].map((path) => ({
    method: 'GET',
    path: `${WELL_KNOWN}${path}`,
    access: 'open',
    summary: 'OAuth protected resource metadata: where to get a token',
    handle: () => document,
  }));
}
