/**
 * Tokens of an OAuth issuer: this daemon is a resource server. It believes only what the issuer signed for
 * exactly this daemon, and never sends such a token on to a server.
 */
import type { JWTPayload } from 'jose';
import { TurnbuckleError } from 'turnbuckle';
import type { TokenAccess } from '../http/access.js';
import type { Credentials, Visitor } from '../http/visitor.js';
import { CLOCK_TOLERANCE_MS } from '../http/visitor-end.js';
import { type IssuerFetch, IssuerKeys } from './issuer-keys.js';
import { hashOf } from './token-record.js';

export interface ScopeGrant {
  readonly access?: readonly TokenAccess[] | undefined;
  readonly can?: readonly string[] | undefined;
}

export interface JwtOptions {
  readonly issuer: string;
  /** The address of this daemon as clients know it; tokens must name it as audience. */
  readonly resource: string;
  /** What each scope of the issuer is good for here; others are good for nothing. */
  readonly scopes: Readonly<Record<string, ScopeGrant>>;
  readonly jwksUri?: string | undefined;
  readonly fetch: IssuerFetch;
  /** How far the issuer's clock may be off; 5 s unless told otherwise. */
  readonly clockToleranceMs?: number | undefined;
  /** Milliseconds since 1970. */
  readonly now?: (() => number) | undefined;
}

/** Signatures with a key that only the issuer has. Never `none`, never one with a shared key. */
const ALGORITHMS = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'],
];
const TYPES = new Set(['jwt', 'at+jwt', 'application/at+jwt']);
const JWT = /^[\w-]+\.[\w-]+\.[\w-]+$/;
const MAX_LENGTH = 8_192;
/** Whom a token is about: the first of these that it has. */
const SUBJECTS = ['sub', 'client_id', 'azp'] as const;
const MAX_SUBJECT = 200;
/** A token is checked anew after that time: its key may have been withdrawn. */
const REMEMBER_MS = 60_000;
const MAX_REMEMBERED = 1_000;

export class JwtVerifier implements Credentials {
  readonly #options: JwtOptions;
  readonly #now: () => number;
  readonly #keys: IssuerKeys;
  readonly #remembered = new Map<string, { readonly visitor: Visitor; readonly until: number }>();

  constructor(options: JwtOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
    const { issuer, jwksUri, fetch } = options;
    this.#keys = new IssuerKeys({ issuer, jwksUri, fetch, now: this.#now });
  }

  /** A token that was verified a short time ago. */
  find(token: string): Visitor | undefined {
    if (this.#remembered.size === 0 || token.length > MAX_LENGTH) return undefined;
    const hash = hashOf(token);
    const found = this.#remembered.get(hash);
    if (found === undefined || this.#now() < found.until) return found?.visitor;
    this.#remembered.delete(hash);
    return undefined;
  }

  /** Whether it says of itself that it is for us and still good: then only its signature can tell. */
  isPlausible(token: string): boolean {
    if (token.length > MAX_LENGTH || !JWT.test(token)) return false;
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

  /** Undefined for a token that is not good; CONNECT_FAILED when the issuer's keys cannot be had. */
  async verify(token: string): Promise<Visitor | undefined> {
    if (token.length > MAX_LENGTH || !JWT.test(token)) return undefined;
    try {
      const payload = await this.#payloadOf(token);
      const visitor = this.#visitorOf(payload);
      if (visitor !== undefined) this.#remember(token, visitor, payload.exp ?? 0);
      return visitor;
    } catch (error) {
      if (error instanceof TurnbuckleError) throw error;
      const { errors } = await import('jose');
      // What jose makes of a token is a matter of the token, whatever a stranger put into it.
      if (error instanceof errors.JOSEError || error instanceof TypeError) return undefined;
      throw error;
    }
  }

  async #payloadOf(token: string): Promise<JWTPayload> {
    const { decodeJwt, decodeProtectedHeader, jwtVerify, errors } = await import('jose');
    const { issuer, resource, clockToleranceMs = CLOCK_TOLERANCE_MS } = this.#options;
    const { alg = '', typ = 'jwt' } = decodeProtectedHeader(token);
    // Before the issuer is asked for anything.
    const ours = ALGORITHMS.includes(alg) && TYPES.has(typ.toLowerCase()) && decodeJwt(token).iss === issuer;
    if (!ours) throw new errors.JWTInvalid('not a token of this issuer');
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

  #visitorOf(payload: JWTPayload): Visitor | undefined {
    // Bound to a key that its sender would have to prove (RFC 9449, RFC 8705): whoever just sends it may have stolen it.
    if (payload.cnf !== undefined) return undefined;
    const claim = SUBJECTS.find((name) => typeof payload[name] === 'string' && payload[name] !== '');
    const who = claim === undefined ? undefined : payload[claim];
    if (typeof who !== 'string' || who.length > MAX_SUBJECT) return undefined;
    const access = new Set<TokenAccess>();
    const capabilities = new Set<string>();
    for (const scope of scopesOf(payload)) {
      if (!Object.hasOwn(this.#options.scopes, scope)) continue;
      const grant = this.#options.scopes[scope];
      for (const one of grant?.access ?? []) access.add(one);
      for (const one of grant?.can ?? []) capabilities.add(one);
    }
    // The colon keeps them apart from the names of this daemon's own tokens.
    const identity = `jwt:${JSON.stringify([this.#options.issuer, claim, who])}`;
    const caller = { id: `jwt:${who}`, identity, capabilities: [...capabilities] };
    return { caller, access, expiresAt: (payload.exp ?? 0) * 1_000 };
  }

  #remember(token: string, visitor: Visitor, expires: number): void {
    const [oldest] = this.#remembered.keys();
    if (oldest !== undefined && this.#remembered.size >= MAX_REMEMBERED) this.#remembered.delete(oldest);
    const until = Math.min(expires * 1_000, this.#now() + REMEMBER_MS);
    this.#remembered.set(hashOf(token), { visitor, until });
  }
}

function decodePart(part: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString('utf8'));
    return typeof value === 'object' && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}

/** `scope` as the standard has it, `scp` as some issuers do. */
function scopesOf({ scope, scp }: JWTPayload): string[] {
  const given: unknown = scope ?? scp;
  if (typeof given === 'string') return given.split(' ');
  return Array.isArray(given) ? given.filter((one) => typeof one === 'string') : [];
}
