/** An issuer of tokens: keys made for the test, served on a real socket, and tokens of all kinds. */
import { createServer } from 'node:http';
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose';
import { onTestFinished } from 'vitest';

export interface Issuer {
  readonly url: string;
  /** The requested paths, in order. */
  readonly asked: string[];
  /** The response for each path; a number is a status. */
  readonly pages: Map<string, unknown>;
  readonly publicJwk: Readonly<Record<string, unknown>>;
  sign(claims: JWTPayload, header?: Record<string, unknown>): Promise<string>;
}

export async function openIssuer(path = ''): Promise<Issuer> {
  const asked: string[] = [];
  const pages = new Map<string, unknown>();
  const server = createServer((request, response) => {
    const at = request.url ?? '';
    asked.push(at);
    const page = pages.get(at) ?? 404;
    if (typeof page === 'number') return void response.writeHead(page).end();
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(page));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const address = server.address();
  const origin = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
  const url = `${origin}${path}`;
  pages.set(`/.well-known/oauth-authorization-server${path}`, { issuer: url, jwks_uri: `${origin}/keys` });
  const key = await makeKey('one');
  pages.set('/keys', { keys: [key.jwk] });
  return {
    url,
    asked,
    pages,
    publicJwk: key.jwk,
    sign: (claims, header = {}) =>
      new SignJWT(claims)
        .setProtectedHeader({ alg: 'ES256', kid: key.kid, ...header })
        .sign(key.secret, { crit: { x: true } }),
  };
}

async function makeKey(kid: string) {
  const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true });
  return { kid, secret: privateKey, jwk: { ...(await exportJWK(publicKey)), kid, alg: 'ES256', use: 'sig' } };
}
