import { createHash } from 'node:crypto';
import { toObject } from '../kernel/json.js';
import { readJwt, toPublicKey } from './jwt.js';

export interface ProvenRequest {
  readonly method: string;
  readonly url: string;
  readonly token: string;
}

const MAX_PROOF_AGE_S = 60;

/** Checks proofs of possession (RFC 9449) as a resource server must, including replays. */
export class DpopVerifier {
  readonly #seen = new Set<string>();

  /** The thumbprint of the key and the nonce of a valid proof; undefined for any other. */
  check(
    proof: string,
    { method, url, token }: ProvenRequest,
  ): { thumbprint: string; nonce: unknown } | undefined {
    const jwt = readJwt(proof);
    if (jwt === undefined || jwt.header.typ !== 'dpop+jwt' || 'd' in toObject(jwt.header.jwk))
      return undefined;
    const { htm, htu, ath, jti, iat, nonce } = jwt.claims;
    const expected = createHash('sha256').update(token).digest('base64url');
    const good =
      jwt.isSignedBy(toPublicKey(jwt.header.jwk)) &&
      htm === method &&
      htu === url &&
      ath === expected &&
      Math.abs(Date.now() / 1_000 - Number(iat)) < MAX_PROOF_AGE_S &&
      typeof jti === 'string' &&
      !this.#seen.has(jti);
    if (!good) return undefined;
    this.#seen.add(jti);
    return { thumbprint: thumbprintOf(toObject(jwt.header.jwk)), nonce };
  }
}

/** RFC 7638 for elliptic curves. */
function thumbprintOf({ crv, kty, x, y }: Readonly<Record<string, unknown>>): string {
  return createHash('sha256').update(JSON.stringify({ crv, kty, x, y })).digest('base64url');
}
