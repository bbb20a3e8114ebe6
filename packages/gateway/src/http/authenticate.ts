/**
 * Who may come in: every request passes here before anything else looks at it. A web page must not get in
 * through the browser of the person at this machine (Host, Origin, content type), nobody without a token.
 */
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Access } from './access.js';
import { HostNames } from './host-names.js';
import { type Rate, RateLimit } from './rate-limit.js';
import { type Refusal, slowDown, toRefusal } from './refusal.js';
import { remoteNetwork } from './remote-network.js';
import { refuseContent, refuseHeaders, refuseMethod, refuseTarget } from './request-form.js';
import { Turns } from './turns.js';
import type { Credentials, Visitor } from './visitor.js';

/** How a client finds out where tokens come from (RFC 9728, RFC 6750). */
export interface TokenGuide {
  /** Address of the metadata document. */
  readonly metadataUrl: string;
  /** The scopes that are good for an access, separated by spaces. */
  scopesFor(access: Access): string | undefined;
}

export interface DoorOptions {
  readonly credentials: Credentials;
  /** Names under which this machine may be addressed, without port, beyond the loopback ones. */
  readonly hosts?: readonly string[] | undefined;
  /** Pages that may use it from a browser, beyond its own: exact origins. */
  readonly origins?: readonly string[] | undefined;
  readonly guide?: TokenGuide | undefined;
  /** How many wrong tokens an address may send: 20 at once and 1 a second unless told otherwise. */
  readonly wrongTokens?: Rate | undefined;
  /** Milliseconds of a clock that does not go back. */
  readonly now?: (() => number) | undefined;
}

export class Doors {
  readonly #credentials: Credentials;
  readonly #hosts: HostNames;
  readonly #origins: ReadonlySet<string>;
  readonly #guide: TokenGuide | undefined;
  readonly #wrongTokens: RateLimit;
  /** A token that many requests bring at once is looked at once. */
  readonly #verifying = new Map<string, Promise<Visitor | Refusal | undefined>>();
  /** Connections on which a plausible token is looked at; one of them at a time. */
  readonly #busy = new WeakSet<Socket>();
  readonly #turns = new Turns(LOOKS_AT_ONCE);

  constructor(options: DoorOptions) {
    const { credentials, hosts = [], origins = [], wrongTokens = { perSecond: 1, burst: 20 } } = options;
    this.#credentials = credentials;
    this.#hosts = new HostNames(hosts);
    this.#origins = new Set(origins);
    this.#guide = options.guide;
    this.#wrongTokens = new RateLimit(wrongTokens, options.now);
  }

  /** Where it comes from and in what form; checked also for what needs no token. */
  refuse(request: IncomingMessage): Refusal | undefined {
    return (
      refuseHeaders(request) ??
      this.#refuseAddress(request) ??
      refuseMethod(request) ??
      refuseTarget(request) ??
      refuseContent(request)
    );
  }

  /** The same for what has a target of its own instead of a path, and no body. */
  refuseTunnel(request: IncomingMessage): Refusal | undefined {
    return refuseHeaders(request) ?? this.#refuseAddress(request);
  }

  /**
   * The visitor, or why it may not do this; a promise only for a token that has to be looked at for longer. A
   * good token that is known gets in however many wrong ones came from the same address: they are all
   * 127.0.0.1 on most machines, and nobody must be able to shut out the owner.
   */
  admit(request: IncomingMessage, access: Access): Visitor | Refusal | Promise<Visitor | Refusal> {
    const token = bearerOf(request.headers.authorization);
    if (token === undefined) return this.#tokenRequired(access, undefined);
    const visitor = this.#credentials.find(token);
    return visitor === undefined ? this.#lookAt(token, request, access) : this.#judge(visitor, access);
  }

  #refuseAddress({ headers }: IncomingMessage): Refusal | undefined {
    const { host, origin } = headers;
    if (!this.#hosts.has(host)) return HOST_REFUSED;
    if (origin === undefined || this.#origins.has(origin) || origin === `http://${host}`) return undefined;
    return ORIGIN_REFUSED;
  }

  #lookAt(token: string, request: IncomingMessage, access: Access): Refusal | Promise<Visitor | Refusal> {
    const wrong = this.#tokenRequired(access, token);
    const settle = (found: Visitor | Refusal | undefined): Visitor | Refusal =>
      found === undefined ? wrong : 'code' in found ? found : this.#judge(found, access);
    const verifying = this.#verifying.get(token);
    if (verifying !== undefined) return verifying.then(settle);
    const from = remoteNetwork(request.socket.remoteAddress);
    if (this.#credentials.isPlausible?.(token) === true)
      return this.#lookCloser(token, request.socket, from).then(settle);
    const waitMs = this.#wrongTokens.take(from);
    if (waitMs > 0) return tooManyWrong(waitMs);
    const look = this.#credentials.verify?.(token);
    if (look === undefined) return wrong;
    const looked = this.#remember(token, look).then((found) => {
      if (isGood(found)) this.#wrongTokens.giveBack(from);
      return found;
    });
    return looked.then(settle);
  }

  /**
   * What others at the same address sent must not keep out who has a good token, so this one is looked at in any case:
   * in its turn, and one at a time for each connection, so that there are never more of them than connections.
   */
  async #lookCloser(token: string, socket: Socket, from: string): Promise<Visitor | Refusal | undefined> {
    if (this.#busy.has(socket)) return tooManyWrong(1_000);
    this.#busy.add(socket);
    const look = this.#turns.take(async () => this.#credentials.verify?.(token));
    const found = await this.#remember(token, look);
    this.#busy.delete(socket);
    const waitMs = found === undefined ? this.#wrongTokens.take(from) : 0;
    return waitMs > 0 ? tooManyWrong(waitMs) : found;
  }

  #remember(token: string, look: Promise<Visitor | undefined>): Promise<Visitor | Refusal | undefined> {
    const looked = look.catch(toRefusal).finally(() => this.#verifying.delete(token));
    this.#verifying.set(token, looked);
    return looked;
  }

  #judge(visitor: Visitor, access: Access): Visitor | Refusal {
    if (access === 'open' || visitor.access.has(access)) return visitor;
    return {
      code: 'ACCESS_DENIED',
      error: `This token is not good for that: it needs the access "${access}".`,
      hint: `Use a token that has it: turnbuckle token create <name> --access ${access}`,
      headers: this.#guide && { 'www-authenticate': this.#challenge(access, 'insufficient_scope') },
    };
  }

  #tokenRequired(access: Access, token: string | undefined): Refusal {
    const fault = token === undefined ? undefined : 'invalid_token';
    return {
      code: 'TOKEN_REQUIRED',
      error:
        token === undefined ? 'This address needs a token.' : 'This token is unknown, expired or revoked.',
      hint: 'Send a token of this daemon in the header Authorization: Bearer <token>. The command line takes it from TURNBUCKLE_TOKEN; turnbuckle token create <name> makes one.',
      headers: { 'www-authenticate': this.#challenge(access, fault) },
    };
  }

  #challenge(access: Access, fault: string | undefined): string {
    const facts = [
      ['realm', 'turnbuckle'],
      ['error', fault],
      ['scope', this.#guide?.scopesFor(access)],
      ['resource_metadata', this.#guide?.metadataUrl],
    ];
    const given = facts.filter(([, value]) => value !== undefined && value !== '');
    return `Bearer ${given.map(([name, value]) => `${name}="${value}"`).join(', ')}`;
  }
}

/** Signatures are checked on the few threads that files are read on too. */
const LOOKS_AT_ONCE = 4;

const tooManyWrong = (waitMs: number): Refusal =>
  slowDown('Too many wrong tokens came from this address.', waitMs);

const isGood = (found: Visitor | Refusal | undefined): boolean => found !== undefined && !('code' in found);

const HOST_REFUSED: Refusal = {
  code: 'HOST_REFUSED',
  error: 'This is not the address of this server.',
  hint: 'Use its address as it was printed, or name the host in the configuration of the daemon.',
};

const ORIGIN_REFUSED: Refusal = {
  code: 'ORIGIN_REFUSED',
  error: 'Web pages of that origin may not use this server.',
  hint: 'Name the origin in the configuration of the daemon if it is yours.',
};

/** Only in the header: addresses end up in logs and histories. */
function bearerOf(header: string | undefined): string | undefined {
  return header === undefined ? undefined : /^Bearer +([\x21-\x7e]+)$/i.exec(header)?.[1];
}
