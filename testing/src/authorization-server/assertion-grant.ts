import type { KeyObject } from 'node:crypto';
import { errors, type Provider, type ResourceServer } from 'oidc-provider';
import { readJwt } from './jwt.js';

export const JWT_BEARER = 'urn:ietf:params:oauth:grant-type:jwt-bearer';

/** Somebody whose word an authorization server takes: a platform for its workloads, a company for its people. */
export interface Voucher {
  readonly issuer: string;
  readonly key: KeyObject;
}

/** Teaches an authorization server to give tokens for the signed word of a voucher (RFC 7523). */
export function takeAssertions(
  provider: Provider,
  vouchers: readonly Voucher[],
  describe: () => ResourceServer,
): void {
  provider.registerGrantType<{ assertion?: string }>(
    JWT_BEARER,
    async (context) => {
      const { client, params } = context.oidc;
      checkAssertion(params.assertion ?? '', provider.issuer, vouchers);
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

function checkAssertion(assertion: string, audience: string, vouchers: readonly Voucher[]): void {
  const jwt = readJwt(assertion);
  const voucher = vouchers.find(({ issuer }) => issuer === jwt?.claims.iss);
  if (jwt === undefined || voucher === undefined || !jwt.isSignedBy(voucher.key))
    throw new errors.InvalidGrant('not vouched for');
  if (jwt.claims.aud !== audience || Number(jwt.claims.exp) * 1_000 < Date.now())
    throw new errors.InvalidGrant('not for us, or not any more');
}
