/** The key that tokens are bound to (RFC 9449): stored with the sign-in, so that it survives restarts. */
import { webcrypto } from 'node:crypto';
import { type DpopKeyPair, DpopSession, generateDpopKeyPair } from '@modelcontextprotocol/client';

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256' } as const;

export interface DpopKey {
  readonly privateJwk: webcrypto.JsonWebKey;
  readonly publicJwk: DpopKeyPair['publicJwk'];
  readonly thumbprint: string;
}

export async function createDpopKey(): Promise<DpopKey> {
  const { privateKey, publicJwk, thumbprint } = await generateDpopKeyPair({
    alg: 'ES256',
    extractable: true,
  });
  return { privateJwk: await webcrypto.subtle.exportKey('jwk', privateKey), publicJwk, thumbprint };
}

/** Signs with the key, and remembers the nonces of the servers. */
export async function openDpopSession({ privateJwk, publicJwk, thumbprint }: DpopKey): Promise<DpopSession> {
  const { subtle } = webcrypto;
  const privateKey = await subtle.importKey('jwk', privateJwk, ALGORITHM, false, ['sign']);
  const publicKey = await subtle.importKey('jwk', publicJwk as webcrypto.JsonWebKey, ALGORITHM, true, [
    'verify',
  ]);
  return DpopSession.create({ keyPair: { privateKey, publicKey, publicJwk, thumbprint, alg: 'ES256' } });
}
