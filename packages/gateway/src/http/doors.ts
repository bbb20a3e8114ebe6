/**
 * Who may come in: every request passes here before anything else looks at it. A web page must not get in
 * through the browser of the person at this machine (Host, Origin, content type), nobody without a token.
 */
import type { IncomingMessage } from 'node:http';
import type { Caller } from 'turnbuckle';
import type { Access } from './route.js';

export interface Visitor {
  readonly caller: Caller;
  readonly access: ReadonlySet<Access>;
}

export interface DoorOptions {
  /** Names under which this machine may be addressed, without port, beyond the loopback ones. */
  readonly hosts: readonly string[];
  /** Pages that may use it from a browser: exact origins. */
  readonly origins: readonly string[];
  /** Who a token belongs to; undefined: nobody. */
  readonly visitorOf: (token: string) => Visitor | undefined | Promise<Visitor | undefined>;
}

export interface Refusal {
  readonly status: 401 | 403 | 415 | 421;
  readonly code: 'UNAUTHORIZED' | 'FORBIDDEN' | 'MISDIRECTED' | 'UNSUPPORTED_MEDIA_TYPE';
  readonly error: string;
  readonly hint: string;
}

const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]']);

export class Doors {
  readonly #hosts: ReadonlySet<string>;
  readonly #origins: ReadonlySet<string>;
  readonly #visitorOf: DoorOptions['visitorOf'];

  constructor({ hosts, origins, visitorOf }: DoorOptions) {
    this.#hosts = new Set([...LOOPBACK, ...hosts.map((host) => host.toLowerCase())]);
    this.#origins = new Set(origins);
    this.#visitorOf = visitorOf;
  }

  /** Where it comes from and what it brings; checked also for what needs no token. */
  refuseAddress({ headers, method }: IncomingMessage): Refusal | undefined {
    if (!this.#isOurHost(headers.host)) {
      return {
        status: 421,
        code: 'MISDIRECTED',
        error: 'This is not the address of this server.',
        hint: 'Use its address as it was printed, or name the host in the configuration of the daemon.',
      };
    }
    const { origin } = headers;
    if (origin !== undefined && !this.#origins.has(origin)) {
      return {
        status: 403,
        code: 'FORBIDDEN',
        error: 'Web pages of that origin may not use this server.',
        hint: 'Name the origin in the configuration of the daemon if it is yours.',
      };
    }
    if (method !== 'GET' && method !== 'DELETE' && !isJson(headers['content-type'])) {
      return {
        status: 415,
        code: 'UNSUPPORTED_MEDIA_TYPE',
        error: 'Only JSON is taken here.',
        hint: 'Send it with the header Content-Type: application/json.',
      };
    }
    return undefined;
  }

  /** The visitor, or why it may not do this. */
  async admit(request: IncomingMessage, access: Access): Promise<Visitor | Refusal> {
    const token = bearerOf(request.headers.authorization);
    const visitor = token === undefined ? undefined : await this.#visitorOf(token);
    if (visitor === undefined) {
      return {
        status: 401,
        code: 'UNAUTHORIZED',
        error: token === undefined ? 'A token is needed here.' : 'This token is not good, or not any more.',
        hint: 'Send the header Authorization: Bearer <token>. turnbuckle token create makes one.',
      };
    }
    if (access === 'open' || visitor.access.has(access)) return visitor;
    return {
      status: 403,
      code: 'FORBIDDEN',
      error: `This token is not good for that: it needs the access "${access}".`,
      hint: 'turnbuckle token create makes one that is.',
    };
  }

  #isOurHost(host: string | undefined): boolean {
    const name = host?.toLowerCase().replace(/:\d{1,5}$/, '');
    return name !== undefined && this.#hosts.has(name);
  }
}

function isJson(type: string | undefined): boolean {
  return type !== undefined && /^application\/json\s*(;|$)/i.test(type);
}

/** Only in the header: addresses end up in logs and histories. */
function bearerOf(header: string | undefined): string | undefined {
  return header === undefined ? undefined : /^Bearer +([\x21-\x7e]+)$/i.exec(header)?.[1];
}
