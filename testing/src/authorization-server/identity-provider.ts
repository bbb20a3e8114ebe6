import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { listenOnLoopback } from '../carriers/loopback.js';
import { readBody } from '../carriers/read-body.js';
import type { JsonObject } from '../kernel/json.js';
import type { Voucher } from './assertion-grant.js';
import { readJwt, signJwt } from './jwt.js';

const TOKEN_EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange';
const ID_JAG = 'urn:ietf:params:oauth:token-type:id-jag';
const LIFE_S = 300;

/** Whoever vouches for people or workloads: a company's identity provider, or a platform. */
export interface IdentityProvider extends Voucher {
  readonly tokenUrl: string;
  /** The forms that were posted. */
  readonly requests: ReadonlyArray<Readonly<Record<string, string>>>;
  /** Its word for somebody, for one audience. */
  vouch(audience: string, claims?: JsonObject): string;
  stop(): Promise<void>;
}

/** Trades an identity token of its own for a grant that one authorization server takes (RFC 8693). */
export async function startIdentityProvider(): Promise<IdentityProvider> {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const requests: Array<Record<string, string>> = [];
  let issuer = '';
  const vouch = (audience: string, claims: JsonObject = {}, typ = 'JWT'): string => {
    const exp = Math.floor(Date.now() / 1_000) + LIFE_S;
    const word = { iss: issuer, sub: 'ada', aud: audience, exp, iat: exp - LIFE_S, jti: randomUUID() };
    return signJwt({ typ }, { ...word, ...claims }, privateKey);
  };
  const { server, origin } = await listenOnLoopback(0, async (request, response) => {
    const form = Object.fromEntries(new URLSearchParams(await readBody(request)));
    requests.push(form);
    const { subject_token = '', audience = '', resource, client_id, grant_type } = form;
    const good = grant_type === TOKEN_EXCHANGE && readJwt(subject_token)?.isSignedBy(publicKey) === true;
    const answer = {
      issued_token_type: ID_JAG,
      access_token: vouch(audience, { resource, client_id }, 'oauth-id-jag+jwt'),
      token_type: 'N_A',
      expires_in: LIFE_S,
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
    vouch: (audience, claims) => vouch(audience, claims),
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
