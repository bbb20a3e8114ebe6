/**
 * Connections that stop speaking HTTP after their first request (CONNECT): lines of another protocol then flow in both
 * directions. Not an Upgrade: with an upgrade listener, Node treats every request that offers one differently.
 */
import { type IncomingHttpHeaders, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { Cancellation, type CancelSignal, ERRORS, identityOf } from 'turnbuckle/host';
import type { Access } from '../../identity/access.js';
import type { Identity } from '../../identity/identity.js';
import { onIdentityEnd } from '../../identity/identity-end.js';
import { type ErrorResponse, toErrorResponse } from '../error-response.js';
import { isWithinFairShare } from '../limits/fair-share.js';
import { errorResponseText } from '../response.js';
import { LineLimiter, type LineLimiterOptions } from './line-limiter.js';

export interface TunnelRequest {
  readonly headers: IncomingHttpHeaders;
  readonly identity: Identity;
}

export interface TunnelRoute {
  /** The target of the request, in place of a path: `name:0`. */
  readonly target: string;
  readonly access: Access;
  /** Throws the reason if the tunnel is rejected. Returns the handler of the connection. */
  prepare(request: TunnelRequest): (tunnel: Tunnel) => Promise<void>;
}

export interface Tunnel {
  readonly socket: Duplex;
  readonly limiter: LineLimiter;
  /** Aborts when no more input is accepted; requests in progress still get a response. */
  readonly closing: CancelSignal;
  /** Aborts when the token ends or the connection closes: nothing takes effect afterwards. Cancelling it ends the tunnel. */
  readonly ended: Cancellation;
}

const MAX_TUNNELS = 256;
const MAX_TUNNELS_PER_CALLER = 64;

export class Tunnels {
  readonly #open = new Map<Duplex, string>();
  readonly #shared: Pick<LineLimiterOptions, 'inFlight' | 'requestRate' | 'slowReadMs'>;

  /** What the lines of a tunnel hold of shared limits. */
  constructor(shared: Pick<LineLimiterOptions, 'inFlight' | 'requestRate' | 'slowReadMs'>) {
    this.#shared = shared;
  }

  /** Opens a tunnel or sends an error on the connection. Never rejects. */
  async serve(
    route: TunnelRoute,
    request: TunnelRequest & {
      readonly socket: Duplex;
      readonly head: Buffer;
      readonly closing: CancelSignal;
    },
  ): Promise<void> {
    const { socket, head, identity, closing } = request;
    // The close event came before there was a listener.
    if (socket.destroyed) return;
    const id = identityOf(identity.caller);
    const own = [...this.#open.values()].filter((caller) => caller === id).length;
    const { isOwner = false } = identity;
    const isFree = isWithinFairShare({ own, taken: this.#open.size, max: MAX_TUNNELS, isOwner });
    if (!isFree || own >= MAX_TUNNELS_PER_CALLER) return sendErrorOnSocket(socket, TOO_MANY_TUNNELS);
    let speak: ReturnType<TunnelRoute['prepare']>;
    try {
      speak = route.prepare(request);
    } catch (thrown) {
      return sendErrorOnSocket(socket, toErrorResponse(thrown));
    }
    this.#open.set(socket, id);
    const ended = new Cancellation();
    ended.addEventListener('abort', () => socket.destroy());
    const forget = onIdentityEnd(identity, () => ended.cancel());
    socket.once('close', () => {
      forget();
      ended.cancel();
      this.#open.delete(socket);
    });
    socket.write('HTTP/1.1 200 OK\r\n\r\n');
    if (head.length > 0) socket.unshift(head);
    const limiter = new LineLimiter({ ...this.#shared, identity, output: socket });
    try {
      await speak({ socket, closing, ended, limiter });
      socket.end(() => socket.destroy());
    } catch {
      // The connection broke, or the input is malformed: the other side sees the connection end.
      socket.destroy();
    } finally {
      limiter.close();
    }
  }

  destroy(): void {
    for (const socket of [...this.#open.keys()]) socket.destroy();
  }
}

/** Sends a response where there is no response object. */
export function sendErrorOnSocket(socket: Duplex, errorResponse: ErrorResponse): void {
  const text = errorResponseText(errorResponse);
  const { http } = ERRORS[errorResponse.code];
  const head = [
    `HTTP/1.1 ${http} ${STATUS_CODES[http] ?? ''}`,
    'connection: close',
    'content-type: application/json',
    `content-length: ${Buffer.byteLength(text)}`,
    ...Object.entries(errorResponse.headers ?? {}).map(([name, value]) => `${name}: ${value}`),
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${text}`, () => socket.destroy());
}

const TOO_MANY_TUNNELS: ErrorResponse = {
  code: 'OVERLOADED',
  error: 'Too many stdio clients are connected.',
  hint: 'Disconnect a client, or try again in a moment.',
};
