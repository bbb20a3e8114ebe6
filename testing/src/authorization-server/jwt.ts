import { createPublicKey, type JsonWebKey, type KeyObject, sign, verify } from 'node:crypto';
import { type JsonObject, toObject } from '../kernel/json.js';

export interface Jwt {
  readonly header: JsonObject;
  readonly claims: JsonObject;
  isSignedBy(key: KeyObject): boolean;
}

const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');

/** A JWT signed with a P-256 key (ES256). */
export function signJwt(header: JsonObject, claims: JsonObject, key: KeyObject): string {
  const text = `${encode({ alg: 'ES256', ...header })}.${encode(claims)}`;
  const signature = sign('sha256', Buffer.from(text), { key, dsaEncoding: 'ieee-p1363' });
  return `${text}.${signature.toString('base64url')}`;
}

/** The parts of a JWT; undefined for any other text. Checks neither signature nor claims. */
export function readJwt(token: string): Jwt | undefined {
  const [header = '', claims = '', signature = '', ...rest] = token.split('.');
  if (signature === '' || rest.length > 0) return undefined;
  try {
    return {
      header: decode(header),
      claims: decode(claims),
      isSignedBy: (key) =>
        verify(
          'sha256',
          Buffer.from(`${header}.${claims}`),
          { key, dsaEncoding: 'ieee-p1363' },
          Buffer.from(signature, 'base64url'),
        ),
    };
  } catch {
    return undefined;
  }
}

const decode = (part: string): JsonObject =>
  toObject(JSON.parse(Buffer.from(part, 'base64url').toString('utf8')));

/** A public key from a JWT header. */
export const toPublicKey = (jwk: unknown): KeyObject =>
  createPublicKey({ key: toObject(jwk) as JsonWebKey, format: 'jwk' });
