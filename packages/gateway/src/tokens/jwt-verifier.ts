/**
 * Tokens of an OAuth issuer: this daemon is a resource server. It accepts only tokens that the issuer signed for exactly
 * this daemon, and never forwards them to a server.
 */
import type { JWTPayload } from 'jose';
import { TurnbuckleError } from 'turnbuckle';
import { monotonicNow } from 'turnbuckle/host';
import type { TokenAccess } from '../identity/access.js';
import type { Credentials, Identity } from '../identity/identity.js';
import { CLOCK_TOLERANCE_MS } from '../identity/identity-end.js';
import { type IssuerFetch, IssuerKeys } from './issuer-keys.js';
import { hashOf } from './token-record.js';

export interface ScopeGrant {
  readonly access?: readonly TokenAccess[] | undefined;
  readonly can?: readonly string[] | undefined;
}

export interface JwtOptions {
  readonly issuer: string;
  /** The URL of this daemon as clients know it; tokens must have it as audience. */
  readonly resource: string;
  /** What each scope of the issuer grants here; other scopes grant nothing. */
  readonly scopes: Readonly<Record<string, ScopeGrant>>;
  readonly jwksUri?: string | undefined;
  readonly fetch: IssuerFetch;
  /** The tolerance for the issuer's clock; 5 s by default. */
  readonly clockToleranceMs?: number | undefined;
  /** Replaces both clocks. Milliseconds since 1970. */
  readonly now?: (() => number) | undefined;
}

/** Asymmetric signatures only. Never `none`, and no shared keys. */
const ALGORITHMS = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'],
];
const TYPES = new Set(['jwt', 'at+jwt', 'application/at+jwt']);
const JWT = /^[\w-]+\.[\w-]+\.[\w-]+$/;
const MAX_TOKEN_CHARACTERS = 8_192;
/** The subject of a token: the first of these claims that it has. */
const SUBJECTS = ['sub', 'client_id', 'azp'] as const;
const MAX_SUBJECT_CHARACTERS = 200;
/** After this time a token is verified again: its key may have been withdrawn. */
const CACHE_MS = 60_000;
const MAX_CACHED_TOKENS = 1_000;

interface VerifiedToken {
  readonly identity: Identity;
  readonly expiresAt: number;
  /** By the monotonic clock. */
  readonly cachedUntil: number;
}

export class JwtVerifier implements Credentials {
  readonly #options: JwtOptions;
  /** For what the issuer wrote: `exp` and `nbf`. */
  readonly #now: () => number;
  /** For our own waits. */
  readonly #monotonicNow: () => number;
  readonly #keys: IssuerKeys;
  readonly #verified = new Map<string, VerifiedToken>();

  constructor(options: JwtOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
    this.#monotonicNow = options.now ?? monotonicNow;
    const { issuer, jwksUri, fetch } = options;
    this.#keys = new IssuerKeys({ issuer, jwksUri, fetch, now: this.#monotonicNow });
  }

  /** A token that was verified recently. */
  find(token: string): Identity | undefined {
    if (this.#verified.size === 0 || token.length > MAX_TOKEN_CHARACTERS) return undefined;
    const hash = hashOf(token);
    const found = this.#verified.get(hash);
    if (found === undefined) return undefined;
    if (this.#now() < found.expiresAt && this.#monotonicNow() < found.cachedUntil) return found.identity;
    this.#verified.delete(hash);
    return undefined;
  }

  /** Whether its claims say that it is for this daemon and valid: then only the signature can tell. */
  isPlausible(token: string): boolean {
    if (token.length > MAX_TOKEN_CHARACTERS || !JWT.test(token)) return false;
    const { issuer, resource, clockToleranceMs = CLOCK_TOLERANCE_MS } = this.#options;
    const [header, claims] = token.split('.', 2).map(decodePart);
    const { alg, typ = 'jwt' } = header ?? {};
    const { iss, aud, exp } = claims ?? {};
    return (
      typeof alg === 'string' &&
      ALGORITHMS.includes(alg) &&
      typeof typ === 'string' &&
      TYPES.has(typ.toLowerCase()) &&
      iss === issuer &&
      (Array.isArray(aud) ? aud.includes(resource) : aud === resource) &&
      typeof exp === 'number' &&
      exp * 1_000 > this.#now() - clockToleranceMs
    );
  }

  /** Undefined for an invalid token; CONNECT_FAILED if the issuer's keys cannot be loaded. */
  async verify(token: string): Promise<Identity | undefined> {
    if (token.length > MAX_TOKEN_CHARACTERS || !JWT.test(token)) return undefined;
    try {
      const payload = await this.#payloadOf(token);
      const identity = this.#identityOf(payload);
      if (identity !== undefined) this.#cache(token, identity, payload.exp ?? 0);
      return identity;
    } catch (error) {
      if (error instanceof TurnbuckleError) throw error;
      const { errors } = await import('jose');
      // Any error of jose is about the token, whatever it contains.
      if (error instanceof errors.JOSEError || error instanceof TypeError) return undefined;
      throw error;
    }
  }

  async #payloadOf(token: string): Promise<JWTPayload> {
    const { decodeJwt, decodeProtectedHeader, jwtVerify, errors } = await import('jose');
    const { issuer, resource, clockToleranceMs = CLOCK_TOLERANCE_MS } = this.#options;
    const { alg = '', typ = 'jwt' } = decodeProtectedHeader(token);
    // Before anything is requested from the issuer.
    const ours = ALGORITHMS.includes(alg) && TYPES.has(typ.toLowerCase()) && decodeJwt(token).iss === issuer;
    if (!ours) throw new errors.JWTInvalid('not a token from this issuer');
    const { payload } = await jwtVerify(token, this.#keys.find, {
      algorithms: ALGORITHMS,
      issuer,
      audience: resource,
      requiredClaims: ['exp'],
      clockTolerance: clockToleranceMs / 1_000,
      currentDate: new Date(this.#now()),
    });
    return payload;
  }

  #identityOf(payload: JWTPayload): Identity | undefined {
    // Bound to a key that its sender would have to prove (RFC 9449, RFC 8705): as a plain bearer it may be stolen.
    if (payload.cnf !== undefined) return undefined;
    const claim = SUBJECTS.find((name) => typeof payload[name] === 'string' && payload[name] !== '');
    const who = claim === undefined ? undefined : payload[claim];
    if (typeof who !== 'string' || who.length > MAX_SUBJECT_CHARACTERS) return undefined;
    const access = new Set<TokenAccess>();
    const capabilities = new Set<string>();
    for (const scope of scopesOf(payload)) {
      if (!Object.hasOwn(this.#options.scopes, scope)) continue;
      const grant = this.#options.scopes[scope];
      for (const one of grant?.access ?? []) access.add(one);
      for (const one of grant?.can ?? []) capabilities.add(one);
    }
    const identity = `jwt:${JSON.stringify([this.#options.issuer, claim, who])}`;
    const caller = { id: callerId(claim, who), identity, capabilities: [...capabilities] };
    return { caller, access, expiresAt: (payload.exp ?? 0) * 1_000 };
  }

  #cache(token: string, identity: Identity, expires: number): void {
    const [oldest] = this.#verified.keys();
    if (oldest !== undefined && this.#verified.size >= MAX_CACHED_TOKENS) this.#verified.delete(oldest);
    const cachedUntil = this.#monotonicNow() + CACHE_MS;
    this.#verified.set(hashOf(token), { identity, expiresAt: expires * 1_000, cachedUntil });
  }
}

/**
 * The colon keeps them apart from the names of the daemon's own tokens. A client is not the person whose subject is equal to
 * its id: rules, approvals and credentials of one do not apply to the other.
 */
function callerId(claim: (typeof SUBJECTS)[number] | undefined, who: string): string {
  if (claim !== 'sub') return `jwt:client:${who}`;
  return /^(client|sub):/.test(who) ? `jwt:sub:${who}` : `jwt:${who}`;
}

function decodePart(part: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString('utf8'));
    return typeof value === 'object' && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}

/** `scope` as in the standard, `scp` as some issuers write it. */
function scopesOf({ scope, scp }: JWTPayload): string[] {
  const given: unknown = scope ?? scp;
  if (typeof given === 'string') return given.split(' ');
  return Array.isArray(given) ? given.filter((one) => typeof one === 'string') : [];
}
