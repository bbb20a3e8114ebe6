/**
 * Authentication: every request passes through here before anything else reads it. It keeps out web pages that use the
 * browser of the user on this machine (Host, Origin, content type) and requests without a token.
 */
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Access } from '../identity/access.js';
import type { Credentials, Identity, RefusedToken } from '../identity/identity.js';
import { type ErrorResponse, rateLimited, toErrorResponse } from './error-response.js';
import { HostNames } from './host-names.js';
import { ConcurrencyLimit } from './limits/concurrency-limit.js';
import { type Rate, RateLimit } from './limits/rate-limit.js';
import { remoteNetwork } from './limits/remote-network.js';
import { checkContent, checkHeaders, checkMethod, checkTarget } from './server/check-request.js';

/** Tells a client where to get tokens (RFC 9728, RFC 6750). */
export interface ChallengeInfo {
  /** URL of the metadata document. */
  readonly metadataUrl: string;
  /** The scopes that grant an access, separated by spaces. */
  scopesFor(access: Access): string | undefined;
}

export interface AuthenticatorOptions {
  readonly credentials: Credentials;
  /** Host names of this daemon, without port, in addition to the loopback names. */
  readonly hosts?: readonly string[] | undefined;
  /** Exact origins of web pages that may use the daemon, in addition to its own. */
  readonly origins?: readonly string[] | undefined;
  readonly challengeInfo?: ChallengeInfo | undefined;
  /** How many invalid tokens an address may send (a burst of 20, then 1 per second). */
  readonly invalidTokenRate?: Rate | undefined;
  /** A request had an invalid token. Called for each of them, with the network that it came from. */
  readonly onRefusedToken?: ((refused: RefusedToken, from: string) => void) | undefined;
  /** Milliseconds of a monotonic clock. */
  readonly now?: (() => number) | undefined;
}

export class Authenticator {
  readonly #credentials: Credentials;
  readonly #hosts: HostNames;
  readonly #origins: ReadonlySet<string>;
  readonly #challengeInfo: ChallengeInfo | undefined;
  readonly #invalidTokenLimit: RateLimit;
  readonly #onRefusedToken: AuthenticatorOptions['onRefusedToken'];
  /** Concurrent requests with the same token share one verification. */
  readonly #verifying = new Map<string, Promise<Identity | ErrorResponse | undefined>>();
  /** Connections on which a plausible token is being verified; one at a time for each connection. */
  readonly #verifyingSockets = new WeakSet<Socket>();
  readonly #verificationLimit = new ConcurrencyLimit(MAX_CONCURRENT_VERIFICATIONS);

  constructor(options: AuthenticatorOptions) {
    const { credentials, hosts = [], origins = [], invalidTokenRate = { perSecond: 1, burst: 20 } } = options;
    this.#credentials = credentials;
    this.#hosts = new HostNames(hosts);
    this.#origins = new Set(origins);
    this.#challengeInfo = options.challengeInfo;
    this.#onRefusedToken = options.onRefusedToken;
    this.#invalidTokenLimit = new RateLimit(invalidTokenRate, options.now);
  }

  /** Checks origin and form of a request; also for routes that need no token. */
  checkRequest(request: IncomingMessage): ErrorResponse | undefined {
    return (
      checkHeaders(request) ??
      this.#checkHostAndOrigin(request) ??
      checkMethod(request) ??
      checkTarget(request) ??
      checkContent(request)
    );
  }

  /** The same for a CONNECT request, which has no path and no body. */
  checkTunnelRequest(request: IncomingMessage): ErrorResponse | undefined {
    return checkHeaders(request) ?? this.#checkHostAndOrigin(request);
  }

  /**
   * The identity, or why it may not do this; a promise only for a token that needs a slower check. A known valid token is
   * accepted regardless of how many invalid ones came from the same address: on most machines every client is 127.0.0.1,
   * and no client may lock out the owner.
   */
  authenticate(
    request: IncomingMessage,
    access: Access,
  ): Identity | ErrorResponse | Promise<Identity | ErrorResponse> {
    const token = bearerOf(request.headers.authorization);
    if (token === undefined) return this.#tokenRequired(access, undefined);
    const identity = this.#credentials.find(token);
    return identity === undefined
      ? this.#verifyToken(token, request, access)
      : this.#authorize(identity, access);
  }

  #checkHostAndOrigin({ headers }: IncomingMessage): ErrorResponse | undefined {
    const { host, origin } = headers;
    if (!this.#hosts.has(host)) return HOST_REFUSED;
    if (origin === undefined || this.#origins.has(origin) || origin === `http://${host}`) return undefined;
    return ORIGIN_REFUSED;
  }

  #verifyToken(
    token: string,
    request: IncomingMessage,
    access: Access,
  ): ErrorResponse | Promise<Identity | ErrorResponse> {
    const wrong = this.#tokenRequired(access, token);
    const from = remoteNetwork(request.socket.remoteAddress);
    const refuse = (response: ErrorResponse): ErrorResponse => {
      this.#onRefusedToken?.(this.#credentials.whyRefused?.(token) ?? { reason: 'unknown' }, from);
      return response;
    };
    const settle = (found: Identity | ErrorResponse | undefined): Identity | ErrorResponse =>
      found === undefined ? refuse(wrong) : 'code' in found ? found : this.#authorize(found, access);
    const verifying = this.#verifying.get(token);
    if (verifying !== undefined) return verifying.then(settle);
    if (this.#credentials.isPlausible?.(token) === true)
      return this.#verifyPlausible(token, request.socket, from).then(settle);
    const waitMs = this.#invalidTokenLimit.take(from);
    if (waitMs > 0) return refuse(tooManyInvalidTokens(waitMs));
    const look = this.#credentials.verify?.(token);
    if (look === undefined) return refuse(wrong);
    const looked = this.#shareVerification(token, look).then((found) => {
      if (isIdentity(found)) this.#invalidTokenLimit.refund(from);
      return found;
    });
    return looked.then(settle);
  }

  /**
   * Invalid tokens from the same address must not lock out a valid one, so a plausible token is always verified: queued,
   * and one at a time for each connection, so that there are never more verifications than connections.
   */
  async #verifyPlausible(
    token: string,
    socket: Socket,
    from: string,
  ): Promise<Identity | ErrorResponse | undefined> {
    if (this.#verifyingSockets.has(socket)) return tooManyInvalidTokens(1_000);
    this.#verifyingSockets.add(socket);
    const look = this.#verificationLimit.run(async () => this.#credentials.verify?.(token));
    const found = await this.#shareVerification(token, look);
    this.#verifyingSockets.delete(socket);
    const waitMs = found === undefined ? this.#invalidTokenLimit.take(from) : 0;
    return waitMs > 0 ? tooManyInvalidTokens(waitMs) : found;
  }

  #shareVerification(
    token: string,
    look: Promise<Identity | undefined>,
  ): Promise<Identity | ErrorResponse | undefined> {
    const looked = look.catch(toErrorResponse).finally(() => this.#verifying.delete(token));
    this.#verifying.set(token, looked);
    return looked;
  }

  #authorize(identity: Identity, access: Access): Identity | ErrorResponse {
    if (access === 'open' || identity.access.has(access)) return identity;
    return {
      code: 'ACCESS_DENIED',
      error: `This token does not have "${access}" access.`,
      hint: `Create a token with this access: turnbuckle token create <name> --access ${access}`,
      headers: this.#challengeInfo && { 'www-authenticate': this.#challenge(access, 'insufficient_scope') },
    };
  }

  #tokenRequired(access: Access, token: string | undefined): ErrorResponse {
    const fault = token === undefined ? undefined : 'invalid_token';
    return {
      code: 'TOKEN_REQUIRED',
      error:
        token === undefined ? 'This request requires a token.' : 'This token is unknown, expired or revoked.',
      hint: 'Send the header Authorization: Bearer <token>, or set TURNBUCKLE_TOKEN for the command line. Create a token: turnbuckle token create <name>',
      headers: { 'www-authenticate': this.#challenge(access, fault) },
    };
  }

  #challenge(access: Access, fault: string | undefined): string {
    const facts = [
      ['realm', 'turnbuckle'],
      ['error', fault],
      ['scope', this.#challengeInfo?.scopesFor(access)],
      ['resource_metadata', this.#challengeInfo?.metadataUrl],
    ];
    const given = facts.filter(([, value]) => value !== undefined && value !== '');
    return `Bearer ${given.map(([name, value]) => `${name}="${value}"`).join(', ')}`;
  }
}

/** Signatures are verified on the small thread pool that file reads also use. */
const MAX_CONCURRENT_VERIFICATIONS = 4;

const tooManyInvalidTokens = (waitMs: number): ErrorResponse =>
  rateLimited('Too many invalid tokens from this address.', waitMs);

const isIdentity = (found: Identity | ErrorResponse | undefined): boolean =>
  found !== undefined && !('code' in found);

const HOST_REFUSED: ErrorResponse = {
  code: 'HOST_REFUSED',
  error: "The Host header does not match any of this daemon's addresses.",
  hint: 'Use the address that the daemon printed, or add the host name to daemon.hosts.',
};

const ORIGIN_REFUSED: ErrorResponse = {
  code: 'ORIGIN_REFUSED',
  error: 'Web pages from this origin are not allowed to use the daemon.',
  hint: 'If the origin is yours, add it to daemon.origins.',
};

/** Only from the header: URLs end up in logs and browser histories. */
function bearerOf(header: string | undefined): string | undefined {
  return header === undefined ? undefined : /^Bearer +([\x21-\x7e]+)$/i.exec(header)?.[1];
}
