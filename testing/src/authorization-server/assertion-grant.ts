import type { KeyObject } from 'node:crypto';
import { errors, type Provider, type ResourceServer } from 'oidc-provider';
import { readJwt } from './jwt.js';

export const JWT_BEARER = 'urn:ietf:params:oauth:grant-type:jwt-bearer';

/** An issuer whose assertions an authorization server accepts: a platform for its workloads, a company for its users. */
export interface AssertionIssuer {
  readonly issuer: string;
  readonly key: KeyObject;
}

/** Adds the JWT bearer grant to an authorization server: it issues tokens for assertions of these issuers (RFC 7523). */
export function acceptAssertions(
  provider: Provider,
  issuers: readonly AssertionIssuer[],
  describe: () => ResourceServer,
): void {
  provider.registerGrantType<{ assertion?: string }>(
    JWT_BEARER,
    async (context) => {
      const { client, params } = context.oidc;
      checkAssertion(params.assertion ?? '', provider.issuer, issuers);
      const resourceServer = new provider.ResourceServer(String(params.resource ?? ''), describe());
      const { scope = resourceServer.scope } = params;
      const token = new provider.ClientCredentials({ client, resourceServer, scope });
      const value = await token.save();
      context.body = { access_token: value, expires_in: token.expiration, token_type: 'Bearer', scope };
    },
    ['assertion', 'scope', 'resource'],
    ['resource'],
  );
}

function checkAssertion(assertion: string, audience: string, issuers: readonly AssertionIssuer[]): void {
  const jwt = readJwt(assertion);
  const trusted = issuers.find(({ issuer }) => issuer === jwt?.claims.iss);
  if (jwt === undefined || trusted === undefined || !jwt.isSignedBy(trusted.key))
    throw new errors.InvalidGrant('not vouched for');
  if (jwt.claims.aud !== audience || Number(jwt.claims.exp) * 1_000 < Date.now())
    throw new errors.InvalidGrant('not for us, or not any more');
}
