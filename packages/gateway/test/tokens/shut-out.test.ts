/** Invalid tokens and a valid one from the same address. */
import { generateKeyPair, SignJWT } from 'jose';
import { describe, expect, it } from 'vitest';
import { joinCredentials } from '../../src/tokens/join-credentials.js';
import { JwtVerifier } from '../../src/tokens/jwt-verifier.js';
import { CREDENTIALS, openServer } from '../http/open-server.js';
import { openIssuer } from './issuer.js';

const RESOURCE = 'https://tools.example/mcp';

async function stage() {
  const issuer = await openIssuer();
  const verifier = new JwtVerifier({
    ...{ issuer: issuer.url, resource: RESOURCE, fetch },
    scopes: { up: { access: ['read'] } },
  });
  const checked: string[] = [];
  const verify = (token: string) => {
    checked.push(token);
    return verifier.verify(token);
  };
  const issued = {
    find: verifier.find.bind(verifier),
    isPlausible: verifier.isPlausible.bind(verifier),
    verify,
  };
  const { url } = await openServer({
    auth: {
      credentials: joinCredentials(CREDENTIALS, issued),
      invalidTokenRate: { perSecond: 0.001, burst: 5 },
    },
  });
  const claims = (more: Readonly<Record<string, unknown>> = {}) => ({
    ...{ iss: issuer.url, aud: RESOURCE, sub: 'ada', scope: 'up' },
    exp: Math.floor(Date.now() / 1_000) + 600,
    ...more,
  });
  const ask = async (token: string): Promise<number> => {
    const answer = await fetch(`${url}/tools`, { headers: { authorization: `Bearer ${token}` } });
    await answer.text();
    return answer.status;
  };
  return { issuer, ask, claims, checked };
}

describe('a token of the issuer', () => {
  it('is accepted, whatever invalid tokens came from the same address before', async () => {
    const { issuer, ask, claims } = await stage();
    const { privateKey } = await generateKeyPair('ES256');
    const forge = (number: number) =>
      new SignJWT(claims({ jti: String(number) }))
        .setProtectedHeader({ alg: 'ES256', kid: 'one' })
        .sign(privateKey);
    const statuses: number[] = [];
    for (let number = 0; number < 60; number += 1)
      statuses.push(await ask(number % 2 === 0 ? `wrong-${number}` : await forge(number)));
    expect(statuses.filter((status) => status === 401)).toHaveLength(5);
    expect(statuses.filter((status) => status === 429)).toHaveLength(55);
    for (const sub of ['ada', 'bob', 'eve']) expect(await ask(await issuer.sign(claims({ sub })))).toBe(200);
    expect(await ask('wrong-again')).toBe(429);
  });

  it('is accepted during a flood of forged tokens', async () => {
    const { issuer, ask, claims } = await stage();
    const { privateKey } = await generateKeyPair('ES256');
    const forged = await Promise.all(
      Array.from({ length: 200 }, (_, number) =>
        new SignJWT(claims({ jti: String(number) }))
          .setProtectedHeader({ alg: 'ES256', kid: 'one' })
          .sign(privateKey),
      ),
    );
    const crowd = forged.map(ask);
    expect(await ask(await issuer.sign(claims()))).toBe(200);
    expect((await Promise.all(crowd)).every((status) => status === 401 || status === 429)).toBe(true);
  });

  it('is not verified beyond the rate limit if its own claims make it invalid', async () => {
    const { issuer, ask, claims, checked } = await stage();
    const wrong = [
      claims({ iss: 'https://other.example' }),
      claims({ aud: 'https://other.example' }),
      claims({ exp: 1 }),
      claims({ exp: 'soon' }),
    ];
    for (const one of wrong) expect(await ask(await issuer.sign(one))).toBe(401);
    expect(await ask('a.b.c')).toBe(401);
    const before = checked.length;
    for (const one of wrong) expect(await ask(await issuer.sign(one))).toBe(429);
    expect(checked).toHaveLength(before);
  });
});
