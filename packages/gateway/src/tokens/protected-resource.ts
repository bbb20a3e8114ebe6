/** Where clients of this daemon get a token from, in the form of RFC 9728. */
import type { TokenGuide } from '../http/doors.js';
import type { Route } from '../http/route.js';
import type { JwtOptions } from './jwt-verifier.js';

type Facts = Pick<JwtOptions, 'issuer' | 'resource' | 'scopes'>;

const WELL_KNOWN = '/.well-known/oauth-protected-resource';

/** What a refusal says about where tokens come from. */
export function createTokenGuide({ resource, scopes }: Facts): TokenGuide {
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

/** The document itself; also at the addresses that clients make up from that of the MCP endpoint. */
export function protectedResourceRoutes({ resource, issuer, scopes }: Facts): Route[] {
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
    summary: 'Where to get a token for this daemon',
    handle: () => document,
  }));
}
