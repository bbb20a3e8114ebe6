import { exportJWK, generateKeyPair, type JWTPayload, SignJWT, UnsecuredJWT } from 'jose';
import { describe, expect, it } from 'vitest';
import { Authenticator } from '../../src/http/authenticate.js';
import { joinCredentials } from '../../src/tokens/join-credentials.js';
import { type JwtOptions, JwtVerifier } from '../../src/tokens/jwt-verifier.js';
import { createChallengeInfo, protectedResourceRoutes } from '../../src/tokens/protected-resource.js';
import { CREDENTIALS, openServer } from '../http/open-server.js';
import { type Issuer, openIssuer } from './issuer.js';

const RESOURCE = 'https://tools.example/mcp';
const NOW = Date.parse('2026-11-15T12:00:00Z');
const SECONDS = NOW / 1_000;
const SCOPES: JwtOptions['scopes'] = {
  'tb:call': { access: ['call', 'read'], can: ['mcp_github'] },
  'tb:files': { can: ['mcp_files'] },
};

async function stage(more: Partial<JwtOptions> = {}, path = '') {
  const issuer = await openIssuer(path);
  const clock = { now: NOW };
  const options: JwtOptions = {
    issuer: issuer.url,
    resource: RESOURCE,
    scopes: SCOPES,
    fetch,
    now: () => clock.now,
    ...more,
  };
  return { issuer, clock, options, verifier: new JwtVerifier(options) };
}

/** Through JSON, which drops undefined values. */
const claims = (issuer: Issuer, more: Record<string, unknown> = {}): JWTPayload =>
  JSON.parse(
    JSON.stringify({
      ...{ iss: issuer.url, aud: RESOURCE, sub: 'ada', exp: SECONDS + 600, scope: 'tb:call other' },
      ...more,
    }),
  );

const ADA = {
  caller: { id: 'jwt:ada', identity: expect.any(String), capabilities: ['mcp_github'] },
  access: new Set(['call', 'read']),
  expiresAt: expect.any(Number),
};

describe('a token of the issuer', () => {
  it('gives the access and the capabilities of its scopes', async () => {
    const { issuer, verifier } = await stage();
    const token = await issuer.sign(claims(issuer));
    expect(verifier.find(token)).toBeUndefined();
    expect(await verifier.verify(token)).toEqual(ADA);
    expect(verifier.find(token)).toEqual({ ...ADA, expiresAt: (SECONDS + 600) * 1_000 });
    const both = await verifier.verify(await issuer.sign(claims(issuer, { scope: 'tb:files tb:call' })));
    expect(both?.caller.capabilities).toEqual(['mcp_files', 'mcp_github']);
    const list = await verifier.verify(
      await issuer.sign(claims(issuer, { scope: undefined, scp: ['tb:call', 1] })),
    );
    expect(list).toEqual(ADA);
    const none = await verifier.verify(await issuer.sign(claims(issuer, { scope: 'toString __proto__' })));
    expect(none).toMatchObject({ caller: { id: 'jwt:ada', capabilities: [] }, access: new Set() });
    expect(issuer.asked).toEqual(['/.well-known/oauth-authorization-server', '/keys']);
  });

  it.each<[string, Record<string, unknown>, Record<string, unknown>?]>([
    ['with another audience', { aud: 'https://other.example/mcp' }],
    ['with a part of our address as audience', { aud: 'https://tools.example' }],
    ['without audience', { aud: undefined }],
    ['of another issuer', { iss: 'https://evil.example' }],
    ['of the issuer with a slash', { iss: 'slash' }],
    ['without issuer', { iss: undefined }],
    ['that has expired', { exp: SECONDS - 6 }],
    ['that never expires', { exp: undefined }],
    ['that is not valid yet', { nbf: SECONDS + 6 }],
    ['without a subject', { sub: undefined }],
    ['with a very long subject', { sub: 'a'.repeat(300) }],
    ['that is bound to a key', { cnf: { jkt: 'x' } }],
    ['of another type', {}, { typ: 'dpop+jwt' }],
    ['with an unknown key', {}, { kid: 'two' }],
    ['with an unknown critical header', {}, { crit: ['x'], x: 1 }],
  ])('%s is invalid', async (_, more, header) => {
    const { issuer, verifier } = await stage();
    const wrong = more.iss === 'slash' ? { iss: `${issuer.url}/` } : more;
    const token = await issuer.sign(claims(issuer, wrong), header);
    expect(await verifier.verify(token)).toBeUndefined();
    expect(verifier.find(token)).toBeUndefined();
  });

  it('is valid within the tolerance for clocks', async () => {
    const { issuer, verifier } = await stage();
    const token = await issuer.sign(claims(issuer, { exp: SECONDS - 4, nbf: SECONDS + 4 }));
    expect(await verifier.verify(token)).toEqual(ADA);
    // Not cached: it is verified each time.
    expect(verifier.find(token)).toBeUndefined();
  });

  it.each([
    ['no signature', async (issuer: Issuer) => new UnsecuredJWT(claims(issuer)).encode()],
    [
      'the public key as a shared secret',
      (issuer: Issuer) =>
        new SignJWT(claims(issuer))
          .setProtectedHeader({ alg: 'HS256', kid: 'one' })
          .sign(new TextEncoder().encode(JSON.stringify(issuer.publicJwk))),
    ],
    [
      'another key under the id of a valid one',
      async (issuer: Issuer) =>
        new SignJWT(claims(issuer))
          .setProtectedHeader({ alg: 'ES256', kid: 'one' })
          .sign((await generateKeyPair('ES256')).privateKey),
    ],
    [
      'an embedded key',
      async (issuer: Issuer) => {
        const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true });
        const jwk = await exportJWK(publicKey);
        return new SignJWT(claims(issuer))
          .setProtectedHeader({ alg: 'ES256', kid: 'x', jwk })
          .sign(privateKey);
      },
    ],
    [
      'changed claims',
      async (issuer: Issuer) => {
        const [head, , signature] = (await issuer.sign(claims(issuer))).split('.');
        const payload = Buffer.from(JSON.stringify(claims(issuer, { sub: 'eve' }))).toString('base64url');
        return `${head}.${payload}.${signature}`;
      },
    ],
    ['three invalid parts', async () => 'a.b.c'],
    ['empty parts', async () => '..'],
    ['9,000 characters', async () => `${'a'.repeat(9_000)}.b.c`],
  ])('with %s is invalid', async (_, make) => {
    const { issuer, verifier } = await stage();
    const token = await make(issuer);
    expect(await verifier.verify(token)).toBeUndefined();
    expect(verifier.find(token)).toBeUndefined();
  });

  it('is checked again after a minute, and not cached beyond its expiry', async () => {
    const { issuer, verifier, clock } = await stage();
    const long = await issuer.sign(claims(issuer));
    const short = await issuer.sign(claims(issuer, { exp: SECONDS + 10 }));
    await verifier.verify(long);
    await verifier.verify(short);
    clock.now += 9_999;
    expect(verifier.find(short)).toEqual(ADA);
    clock.now += 1;
    expect(verifier.find(short)).toBeUndefined();
    clock.now += 50_000;
    expect(verifier.find(long)).toBeUndefined();
    expect(await verifier.verify(long)).toEqual(ADA);
  });
});

describe('the issuer', () => {
  it('is not contacted for tokens that are not its own, nor for each unknown key', async () => {
    const { issuer, verifier } = await stage();
    await verifier.verify(await issuer.sign(claims(issuer, { iss: 'https://evil.example' })));
    await verifier.verify(new UnsecuredJWT(claims(issuer)).encode());
    expect(issuer.asked).toEqual([]);
    for (let number = 0; number < 20; number += 1)
      await verifier.verify(await issuer.sign(claims(issuer), { kid: `k${number}` }));
    expect(issuer.asked.filter((path) => path === '/keys')).toHaveLength(1);
  });

  it.each([
    ['answers with an error', '/keys', 500],
    ['has no metadata', '/.well-known/oauth-authorization-server', 404],
    [
      'has the metadata of another issuer',
      '/.well-known/oauth-authorization-server',
      { issuer: 'https://evil.example', jwks_uri: 'x' },
    ],
    ['has no keys in its document', '/keys', { no: 'keys' }],
    ['redirects', '/keys', 302],
  ])('that %s is reported as CONNECT_FAILED, and is not contacted for a while', async (_, path, page) => {
    const { issuer, verifier, clock } = await stage();
    const good = issuer.pages.get(path);
    issuer.pages.set(path, page);
    const token = await issuer.sign(claims(issuer));
    await expect(verifier.verify(token)).rejects.toMatchObject({ code: 'CONNECT_FAILED' });
    const { length } = issuer.asked;
    await expect(verifier.verify(token)).rejects.toMatchObject({ code: 'CONNECT_FAILED' });
    expect(issuer.asked).toHaveLength(length);
    issuer.pages.set(path, good);
    clock.now += 10_000;
    expect(await verifier.verify(token)).toEqual(ADA);
  });

  it('may publish its metadata at the OpenID Connect path', async () => {
    const { issuer, verifier } = await stage({}, '/realm');
    const page = issuer.pages.get('/.well-known/oauth-authorization-server/realm');
    issuer.pages.delete('/.well-known/oauth-authorization-server/realm');
    issuer.pages.set('/realm/.well-known/openid-configuration', page);
    expect(await verifier.verify(await issuer.sign(claims(issuer)))).toEqual(ADA);
    expect(issuer.asked.at(-2)).toBe('/realm/.well-known/openid-configuration');
  });
});

describe('a daemon with an issuer', () => {
  async function serve() {
    const { issuer, options, verifier } = await stage();
    const credentials = joinCredentials(CREDENTIALS, verifier);
    const auth = { credentials, challengeInfo: createChallengeInfo(options), hosts: [] };
    expect(new Authenticator(auth)).toBeDefined();
    const server = await openServer({ auth, routes: protectedResourceRoutes(options) });
    const ask = (path: string, token?: string): Promise<Response> =>
      fetch(`${server.url}${path}`, {
        headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
      });
    return { issuer, ask };
  }

  it('says where tokens come from', async () => {
    const { issuer, ask } = await serve();
    const at = 'https://tools.example/.well-known/oauth-protected-resource/mcp';
    expect((await ask('/tools')).headers.get('www-authenticate')).toContain(`resource_metadata="${at}"`);
    for (const path of ['', '/mcp', '/mcp/some-view']) {
      const document = await (await ask(`/.well-known/oauth-protected-resource${path}`)).json();
      expect(document).toEqual({
        resource: RESOURCE,
        authorization_servers: [issuer.url],
        scopes_supported: ['tb:call', 'tb:files'],
        bearer_methods_supported: ['header'],
        resource_name: 'Turnbuckle',
      });
    }
  });

  it('accepts such a token, and names the missing scope if it does not suffice', async () => {
    const { issuer, ask } = await serve();
    const token = await issuer.sign(claims(issuer));
    expect(await (await ask('/tools', token)).json()).toMatchObject({ caller: 'jwt:ada' });
    const weak = await ask('/tools', await issuer.sign(claims(issuer, { scope: 'tb:files' })));
    expect(weak.status).toBe(403);
    expect(weak.headers.get('www-authenticate')).toContain('error="insufficient_scope", scope="tb:call"');
    expect((await ask('/tools', await issuer.sign(claims(issuer, { exp: SECONDS - 60 })))).status).toBe(401);
  });

  it('answers with 502 when the issuer is unavailable', async () => {
    const { issuer, ask } = await serve();
    issuer.pages.set('/keys', 500);
    const answer = await ask('/tools', await issuer.sign(claims(issuer)));
    expect(answer.status).toBe(502);
    expect(await answer.json()).toMatchObject({ success: false, code: 'CONNECT_FAILED' });
  });
});
