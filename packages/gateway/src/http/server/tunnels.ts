/**
 * Connections that stop speaking HTTP after their first request (CONNECT): lines of another protocol then flow both
 * ways. Not an Upgrade: with a listener for that, Node takes every request that offers one out of its usual way.
 */
import { type IncomingHttpHeaders, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { Cancellation, type CancelSignal, ERRORS, identityOf } from 'turnbuckle';
import type { Access } from './access.js';
import { refusalText } from './answer.js';
import { LineGate, type LineGateOptions } from './line-gate.js';
import { type Refusal, toRefusal } from './refusal.js';
import { mayTake } from './shares.js';
import type { Visitor } from './visitor.js';
import { onVisitorEnd } from './visitor-end.js';

export interface TunnelRequest {
  readonly headers: IncomingHttpHeaders;
  readonly visitor: Visitor;
}

export interface TunnelRoute {
  /** What the request has in the place of a path: `name:0`. */
  readonly target: string;
  readonly access: Access;
  /** Throws why there will be none. What it returns speaks on the connection. */
  prepare(request: TunnelRequest): (tunnel: Tunnel) => Promise<void>;
}

export interface Tunnel {
  readonly socket: Duplex;
  readonly gate: LineGate;
  /** Aborts when no more is to be taken in; what is on its way is still answered. */
  readonly ends: CancelSignal;
  /** Aborts when the token has ended or the connection is gone: nothing takes effect from then on. Whoever cancels it ends the tunnel. */
  readonly ended: Cancellation;
}

const MAX_TUNNELS = 256;
const MAX_TUNNELS_OF_CALLER = 64;

export class Tunnels {
  readonly #open = new Map<Duplex, string>();
  readonly #shared: Pick<LineGateOptions, 'places' | 'requests' | 'slowReadMs'>;

  /** What the lines of a tunnel take of what all share. */
  constructor(shared: Pick<LineGateOptions, 'places' | 'requests' | 'slowReadMs'>) {
    this.#shared = shared;
  }

  /** Speaks on the connection from now on; refuses there. Never rejects. */
  async serve(
    route: TunnelRoute,
    request: TunnelRequest & { readonly socket: Duplex; readonly head: Buffer; readonly ends: CancelSignal },
  ): Promise<void> {
    const { socket, head, visitor, ends } = request;
    // Its end was told before anybody here could listen.
    if (socket.destroyed) return;
    const id = identityOf(visitor.caller);
    const own = [...this.#open.values()].filter((caller) => caller === id).length;
    const { isOwner = false } = visitor;
    const isFree = mayTake({ own, taken: this.#open.size, max: MAX_TUNNELS, isOwner });
    if (!isFree || own >= MAX_TUNNELS_OF_CALLER) return refuseOn(socket, TOO_MANY);
    let speak: ReturnType<TunnelRoute['prepare']>;
    try {
      speak = route.prepare(request);
    } catch (thrown) {
      return refuseOn(socket, toRefusal(thrown));
    }
    this.#open.set(socket, id);
    const ended = new Cancellation();
    ended.addEventListener('abort', () => socket.destroy());
    const forget = onVisitorEnd(visitor, () => ended.cancel());
    socket.once('close', () => {
      forget();
      ended.cancel();
      this.#open.delete(socket);
    });
    socket.write('HTTP/1.1 200 OK\r\n\r\n');
    if (head.length > 0) socket.unshift(head);
    const gate = new LineGate({ ...this.#shared, visitor, output: socket });
    try {
      await speak({ socket, ends, ended, gate });
      socket.end(() => socket.destroy());
    } catch {
      // The connection broke, or what came is not what it speaks: who is at the other end sees it end.
      socket.destroy();
    } finally {
      gate.close();
    }
  }

  destroy(): void {
    for (const socket of [...this.#open.keys()]) socket.destroy();
  }
}

/** An answer where there is no response object. */
export function refuseOn(socket: Duplex, refusal: Refusal): void {
  const text = refusalText(refusal);
  const { http } = ERRORS[refusal.code];
  const head = [
    `HTTP/1.1 ${http} ${STATUS_CODES[http] ?? ''}`,
    'connection: close',
    'content-type: application/json',
    `content-length: ${Buffer.byteLength(text)}`,
    ...Object.entries(refusal.headers ?? {}).map(([name, value]) => `${name}: ${value}`),
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${text}`, () => socket.destroy());
}

const TOO_MANY: Refusal = {
  code: 'OVERLOADED',
  error: 'Too many clients are connected like this.',
  hint: 'Disconnect some, or try again in a moment.',
};
