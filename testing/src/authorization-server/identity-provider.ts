import { generateKeyPairSync, randomUUID } from 'node:crypto';
import type { JsonObject } from '../kernel/json.js';
import { listenOnLoopback } from '../transports/loopback.js';
import { readBody } from '../transports/read-body.js';
import type { AssertionIssuer } from './assertion-grant.js';
import { readJwt, signJwt } from './jwt.js';

const TOKEN_EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange';
const ID_JAG = 'urn:ietf:params:oauth:token-type:id-jag';
const LIFETIME_S = 300;

/** Signs assertions about users or workloads: a company's identity provider, or a platform. */
export interface IdentityProvider extends AssertionIssuer {
  readonly tokenUrl: string;
  /** The forms that were posted. */
  readonly requests: ReadonlyArray<Readonly<Record<string, string>>>;
  /** A signed assertion for one audience. */
  signAssertion(audience: string, claims?: JsonObject): string;
  stop(): Promise<void>;
}

/** Exchanges its own identity token for a grant that one authorization server accepts (RFC 8693). */
export async function startIdentityProvider(): Promise<IdentityProvider> {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const requests: Array<Record<string, string>> = [];
  let issuer = '';
  const sign = (audience: string, claims: JsonObject = {}, typ = 'JWT'): string => {
    const exp = Math.floor(Date.now() / 1_000) + LIFETIME_S;
    const standard = {
      iss: issuer,
      sub: 'ada',
      aud: audience,
      exp,
      iat: exp - LIFETIME_S,
      jti: randomUUID(),
    };
    return signJwt({ typ }, { ...standard, ...claims }, privateKey);
  };
  const { server, origin } = await listenOnLoopback(0, async (request, response) => {
    const form = Object.fromEntries(new URLSearchParams(await readBody(request)));
    requests.push(form);
    const { subject_token = '', audience = '', resource, client_id, grant_type } = form;
    const good = grant_type === TOKEN_EXCHANGE && readJwt(subject_token)?.isSignedBy(publicKey) === true;
    const answer = {
      issued_token_type: ID_JAG,
      access_token: sign(audience, { resource, client_id }, 'oauth-id-jag+jwt'),
      token_type: 'N_A',
      expires_in: LIFETIME_S,
    };
    response.writeHead(good ? 200 : 400, { 'content-type': 'application/json' });
    response.end(JSON.stringify(good ? answer : { error: 'invalid_grant' }));
  });
  issuer = origin;
  return {
    issuer,
    key: publicKey,
    tokenUrl: `${origin}/token`,
    requests,
    signAssertion: (audience, claims) => sign(audience, claims),
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
