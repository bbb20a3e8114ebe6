/** The HTTP server: limits, doors, router, and one way to answer errors. What the routes do is theirs. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { Cancellation, identityOf, TurnbuckleError, writeInSlices } from 'turnbuckle';
import { sendCounted, sendRefusal } from './answer.js';
import { answerClientError } from './client-error.js';
import { Connections } from './connections.js';
import type { Doors } from './doors.js';
import { DEFAULT_LIMITS, type HttpLimits, MAX_HEADER_BYTES } from './http-limits.js';
import { owedAnswer } from './owed-answer.js';
import { Places } from './places.js';
import { QueuedAnswers } from './queued-answers.js';
import { RateLimit } from './rate-limit.js';
import { type Refusal, slowDown, toRefusal } from './refusal.js';
import { METHOD_REFUSED } from './request-form.js';
import type { Route } from './route.js';
import { type Found, Router } from './router.js';
import { refuseOn, type TunnelRoute, Tunnels } from './tunnels.js';
import { Visit } from './visit.js';
import type { Visitor } from './visitor.js';

export interface HttpServerOptions {
  readonly routes: readonly Route[];
  readonly doors: Doors;
  readonly limits?: Partial<HttpLimits> | undefined;
  readonly tunnel?: TunnelRoute | undefined;
  /** A route threw something that is not one of our errors, or the socket failed. It must not throw itself. */
  readonly onDefect: (thrown: unknown) => void;
  /** How much is wrong with the configuration now; told in a header to who may look at it. */
  readonly countProblems?: (() => number) | undefined;
}

/** Beside every answer while the configuration has problems: how many. */
const PROBLEMS_HEADER = 'turnbuckle-problems';

export interface Listening {
  readonly host: string;
  readonly port: number;
  readonly url: string;
}

/**
 * How many connections may wait to be taken in. Beyond it the system drops what comes, and a client tries again only
 * after a second; Node's 511 are used up by a crowd that comes at once.
 */
const BACKLOG = 4_096;

const ANYBODY: Visitor = { caller: { id: 'anybody', capabilities: [] }, access: new Set() };

/** Serves the routes from `listen` to `close`. */
export class HttpServer {
  readonly router: Router;
  readonly #doors: Doors;
  readonly #limits: HttpLimits;
  readonly #requests: RateLimit;
  readonly #onDefect: (thrown: unknown) => void;
  readonly #countProblems: () => number;
  readonly #server: Server;
  /** Not an AbortSignal: more than ten streams listen to it. */
  readonly #closing = new Cancellation();
  readonly #connections: Connections;
  /** Nothing more is taken on these. */
  readonly #ending = new WeakSet<Socket>();
  readonly #tunnels: Tunnels;
  readonly #places: Places;
  readonly #queued = new QueuedAnswers();
  #closed: Promise<void> | undefined;

  constructor({ routes, doors, limits, tunnel, onDefect, countProblems = () => 0 }: HttpServerOptions) {
    this.#countProblems = countProblems;
    this.router = new Router(routes);
    this.#doors = doors;
    this.#limits = { ...DEFAULT_LIMITS, ...limits };
    this.#requests = new RateLimit(this.#limits.requests);
    this.#onDefect = onDefect;
    this.#server = createNodeServer(this.#limits);
    this.#connections = new Connections(this.#limits.maxConnections);
    this.#places = new Places(this.#limits);
    const { slowReadMs } = this.#limits;
    this.#tunnels = new Tunnels({ places: this.#places, requests: this.#requests, slowReadMs });
    this.#server.on('connection', this.#connections.add);
    this.#server.on('request', this.#meet);
    // Whoever asks before it sends the body is told to go on when a route reads it, not before.
    this.#server.on('checkContinue', this.#meet);
    this.#server.on('connect', (request, socket, head) => {
      socket.on('error', () => {});
      this.#meetTunnel(tunnel, { request, socket, head }).catch((thrown: unknown) => {
        socket.destroy();
        this.#onDefect(thrown);
      });
    });
    this.#server.on('checkExpectation', (request, response) =>
      this.#turnAway(request, response, EXPECTATION),
    );
  }

  /** Requests that were let in and are not answered yet. */
  get inFlight(): number {
    return this.#places.size;
  }

  /** Connections, and those of them on which a good token came. */
  get connections(): { readonly open: number; readonly known: number } {
    return this.#connections.counts;
  }

  /** LISTEN_FAILED when the address cannot be had. */
  async listen(port: number, host: string): Promise<Listening> {
    await new Promise<void>((resolve, reject) => {
      const fail = (error: Error): void => reject(cannotListen(error, host, port));
      this.#server.once('error', fail);
      this.#server.listen({ port, host, backlog: BACKLOG }, () => {
        this.#server.off('error', fail);
        // Such as a connection that cannot be accepted because there are no more file descriptors.
        this.#server.on('error', this.#onDefect);
        resolve();
      });
    });
    const address = this.#server.address();
    const got = typeof address === 'object' && address !== null ? address.port : port;
    const name = host.includes(':') ? `[${host}]` : host;
    return { host, port: got, url: `http://${name}:${got}` };
  }

  /** No new requests; those on their way may end within the time, the shortest that anybody gives. */
  async close(graceMs: number): Promise<void> {
    this.#closed ??= this.#stopListening();
    const timer = setTimeout(() => {
      this.#server.closeAllConnections();
      this.#tunnels.destroy();
    }, graceMs);
    await this.#closed;
    clearTimeout(timer);
  }

  #stopListening(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    this.#closing.cancel();
    this.#server.closeIdleConnections();
    return closed;
  }

  readonly #meet = (request: IncomingMessage, response: ServerResponse): void => {
    // Node goes on reading what was sent along, although the connection is about to end.
    if (this.#ending.has(request.socket)) return;
    if (request.headers.upgrade !== undefined) {
      // It is answered like any other. But of what comes behind it Node drops a part, as it was cut into packets.
      response.setHeader('connection', 'close');
      this.#ending.add(request.socket);
    }
    const refusal = this.#closing.aborted ? CLOSING : this.#doors.refuse(request);
    if (refusal !== undefined) return this.#turnAway(request, response, refusal);
    const target = request.url ?? '';
    const cut = target.indexOf('?');
    const path = cut === -1 ? target : target.slice(0, cut);
    const found = this.router.find(request.method ?? '', path);
    const come = { request, response, path, found };
    const access = found?.route.access ?? 'open';
    if (found !== undefined && access === 'open') return void this.#serve(come, found, ANYBODY);
    // Who may not come in does not learn which doors there are.
    const admitted = this.#doors.admit(request, access);
    if (admitted instanceof Promise) admitted.then((judged) => this.#enter(come, judged));
    else this.#enter(come, admitted);
  };

  #enter(come: Come, judged: Visitor | Refusal): void {
    const { request, response, path, found } = come;
    // Left while its token was looked at.
    if (request.socket.destroyed) return;
    if ('code' in judged) return this.#turnAway(request, response, judged);
    if (!this.#connections.know(request.socket, judged))
      return this.#turnAway(request, response, TOO_MANY_CONNECTIONS);
    const waitMs = this.#requests.take(identityOf(judged.caller));
    if (waitMs > 0)
      return this.#refuse(request, response, slowDown('Too many requests with this token.', waitMs));
    if (found === undefined) return this.#refuse(request, response, unknown(this.router.methodsOf(path)));
    if (!this.#places.hasRoom(judged)) return this.#refuse(request, response, TOO_BUSY);
    void this.#serve(come, found, judged);
  }

  /** The doors are the same; what is not a tunnel is refused as it always was. */
  async #meetTunnel(route: TunnelRoute | undefined, { request, socket, head }: TunnelCome): Promise<void> {
    // Two protocols would mix on one connection: what comes behind a request that is not answered is not taken, nor what
    // comes behind one that ends the connection.
    if (owedAnswer(socket) !== undefined || this.#ending.has(request.socket)) return void socket.destroy();
    const refusal = this.#closing.aborted ? CLOSING : this.#doors.refuseTunnel(request);
    if (refusal !== undefined) return refuseOn(socket, refusal);
    if (route === undefined || request.url !== route.target) return refuseOn(socket, METHOD_REFUSED);
    const judged = await this.#doors.admit(request, route.access);
    if (socket.destroyed) return;
    if ('code' in judged) return refuseOn(socket, judged);
    if (!this.#connections.know(request.socket, judged)) return refuseOn(socket, TOO_MANY_CONNECTIONS);
    const waitMs = this.#requests.take(identityOf(judged.caller));
    if (waitMs > 0) return refuseOn(socket, slowDown('Too many requests with this token.', waitMs));
    const { headers } = request;
    const ends = this.#closing;
    await this.#tunnels.serve(route, { headers, visitor: judged, socket, head, ends });
  }

  /** Nothing more is taken on the connection of who was not let in. */
  #turnAway(request: IncomingMessage, response: ServerResponse, refusal: Refusal): void {
    response.setHeader('connection', 'close');
    this.#refuse(request, response, refusal);
  }

  /** Where the connection ends with the refusal, what came behind it would have an effect, and no answer. */
  #refuse(request: IncomingMessage, response: ServerResponse, refusal: Refusal): void {
    sendRefusal(request, response, refusal);
    if (response.getHeader('connection') === 'close') this.#ending.add(request.socket);
  }

  async #serve({ request, response, path }: Come, found: Found, visitor: Visitor): Promise<void> {
    const { route, parameters } = found;
    if (response.destroyed) return;
    const place = this.#places.enter(response, visitor);
    response.once('close', () => this.#leave(response));
    place.isBusy = true;
    if (response.socket === null) this.#queued.add(request.socket, response);
    // Who has shown no token has no claim to stay once it has its answer.
    if (visitor === ANYBODY && !this.#connections.isKnown(request.socket)) {
      response.setHeader('connection', 'close');
      this.#ending.add(request.socket);
    }
    const problems = visitor.access.has('look') ? this.#countProblems() : 0;
    if (problems > 0) response.setHeader(PROBLEMS_HEADER, problems);
    try {
      const answer: unknown = await route.handle(
        new Visit({
          request,
          response,
          path,
          parameters,
          visitor,
          maxBodyBytes: route.maxBodyBytes ?? this.#limits.maxBodyBytes,
          closing: this.#closing,
          place,
        }),
      );
      if (answer !== undefined) {
        if (this.#closing.aborted) response.setHeader('connection', 'close');
        sendCounted({ response, place }, 200, await writeInSlices(answer));
      }
    } catch (thrown) {
      this.#refuse(request, response, toRefusal(thrown));
      if (!(thrown instanceof TurnbuckleError) || thrown.code === 'INTERNAL') this.#onDefect(thrown);
    } finally {
      this.#places.settle(place);
    }
    if (response.writableLength > 0) this.#places.linger(response);
  }

  #leave(response: ServerResponse): void {
    this.#places.leave(response);
    if (this.#closing.aborted) setImmediate(() => this.#server.closeIdleConnections());
  }
}

/** A request at the door, and where it wants to go. */
interface Come {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly path: string;
  readonly found: Found | undefined;
}

interface TunnelCome {
  readonly request: IncomingMessage;
  readonly socket: Duplex;
  readonly head: Buffer;
}

function createNodeServer(limits: HttpLimits): Server {
  const { headersTimeoutMs, requestTimeoutMs, keepAliveMs } = limits;
  const server = createServer({
    maxHeaderSize: MAX_HEADER_BYTES,
    headersTimeout: Math.min(headersTimeoutMs, requestTimeoutMs),
    requestTimeout: requestTimeoutMs,
    connectionsCheckingInterval: Math.max(Math.min(headersTimeoutMs, requestTimeoutMs) / 4, 10),
    keepAliveTimeout: keepAliveMs,
    insecureHTTPParser: false,
    // Answered by the doors, in their own form.
    requireHostHeader: false,
  });
  // Beyond a count, Node drops headers without a word; their size is bounded anyway.
  server.maxHeadersCount = 0;
  server.on('clientError', answerClientError);
  return server;
}

const EXPECTATION: Refusal = {
  code: 'REQUEST_INVALID',
  error: 'What the header Expect asks for is not known.',
  hint: 'Send it without that header.',
};

const CLOSING: Refusal = {
  code: 'RUNTIME_CLOSED',
  error: 'The daemon is about to end.',
  hint: 'Send it again when it is back.',
};

const TOO_MANY_CONNECTIONS: Refusal = {
  code: 'OVERLOADED',
  error: 'Too many connections are open with this token.',
  hint: 'Close some of them, or use them for more than one request.',
  data: { retryAfterMs: 1_000 },
};

const TOO_BUSY: Refusal = {
  code: 'OVERLOADED',
  error: 'Too many requests are on their way, with this token or in all.',
  hint: 'Try again in a moment.',
  data: { retryAfterMs: 1_000 },
};

function unknown(methods: readonly string[]): Refusal {
  const hint = 'GET /openapi.json lists what there is.';
  if (methods.length === 0) return { code: 'PATH_UNKNOWN', error: 'There is nothing at this address.', hint };
  const headers = { allow: methods.join(', ') };
  return { code: 'METHOD_REFUSED', error: 'This address does not take that method.', hint, headers };
}

const LISTEN_FAULTS: Readonly<Record<string, { readonly because: string; readonly hint: string }>> = {
  EADDRINUSE: {
    because: 'another program uses it',
    hint: 'Choose another port (--port <n>, or 0 for any that is free), or end the other program.',
  },
  EADDRNOTAVAIL: {
    because: 'this machine does not have that address',
    hint: 'Choose an address of this machine: --host 127.0.0.1 for programs on it, --host 0.0.0.0 for all its networks.',
  },
  EACCES: {
    because: 'you may not use that port',
    hint: 'Choose a port of 1024 or more: --port <n>',
  },
};

function cannotListen(error: NodeJS.ErrnoException, host: string, port: number): TurnbuckleError {
  const reason = error.code ?? 'unknown error';
  const { because, hint } = LISTEN_FAULTS[reason] ?? {
    because: reason,
    hint: 'Choose another address (--host) or port (--port).',
  };
  return new TurnbuckleError('LISTEN_FAILED', `Cannot listen at ${host}, port ${port}: ${because}.`, {
    hint,
    cause: error,
    data: { host, port, reason },
  });
}
