/** The HTTP server: limits, authentication, router, and one way to send errors. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { TurnbuckleError } from 'turnbuckle';
import { Cancellation, identityOf, writeInSlices } from 'turnbuckle/host';
import type { Identity } from '../../identity/identity.js';
import type { Authenticator } from '../authenticate.js';
import { type ErrorResponse, rateLimited, toErrorResponse } from '../error-response.js';
import { InFlightRequests } from '../limits/in-flight-requests.js';
import { RateLimit } from '../limits/rate-limit.js';
import { RequestContext } from '../request-context.js';
import { sendErrorResponse, sendWithinLimit } from '../response.js';
import type { Route } from '../route.js';
import { type RouteMatch, Router } from '../router.js';
import { METHOD_REFUSED } from './check-request.js';
import { answerClientError } from './client-error.js';
import { Connections } from './connections.js';
import { currentResponse } from './current-response.js';
import { DEFAULT_LIMITS, type HttpLimits, MAX_HEADER_BYTES } from './http-limits.js';
import { PacedRequests } from './paced-requests.js';
import { QueuedResponses } from './queued-responses.js';
import { sendErrorOnSocket, type TunnelRoute, Tunnels } from './tunnels.js';

export interface HttpServerOptions {
  readonly routes: readonly Route[];
  readonly authenticator: Authenticator;
  readonly limits?: Partial<HttpLimits> | undefined;
  readonly tunnel?: TunnelRoute | undefined;
  /** Called if a route throws a foreign error, or the socket fails. It must not throw. */
  readonly onDefect: (thrown: unknown) => void;
  /** The number of problems in the configuration; sent in a header to readers of it. */
  readonly countProblems?: (() => number) | undefined;
}

/** Sent with every response while the configuration has problems: their number. */
const PROBLEMS_HEADER = 'turnbuckle-problems';

export interface ListenAddress {
  readonly host: string;
  readonly port: number;
  readonly url: string;
}

/**
 * The backlog of connections. Beyond it the system drops new ones, and a client tries again only after a second; Node's
 * default of 511 is used up when many clients connect at the same time.
 */
const BACKLOG = 4_096;

const ANONYMOUS: Identity = { caller: { id: 'anybody', capabilities: [] }, access: new Set() };

/** Serves the routes from `listen` to `close`. */
export class HttpServer {
  readonly router: Router;
  readonly #authenticator: Authenticator;
  readonly #limits: HttpLimits;
  readonly #requestRate: RateLimit;
  readonly #onDefect: (thrown: unknown) => void;
  readonly #countProblems: () => number;
  readonly #server: Server;
  /** Not an AbortSignal: more than ten streams listen to it. */
  readonly #closing = new Cancellation();
  readonly #connections: Connections;
  /** Connections on which no more requests are accepted. */
  readonly #endingSockets = new WeakSet<Socket>();
  readonly #tunnels: Tunnels;
  readonly #inFlight: InFlightRequests;
  readonly #queuedResponses = new QueuedResponses();
  #closed: Promise<void> | undefined;

  constructor({
    routes,
    authenticator,
    limits,
    tunnel,
    onDefect,
    countProblems = () => 0,
  }: HttpServerOptions) {
    this.#countProblems = countProblems;
    this.router = new Router(routes);
    this.#authenticator = authenticator;
    this.#limits = { ...DEFAULT_LIMITS, ...limits };
    this.#requestRate = new RateLimit(this.#limits.requests);
    this.#onDefect = onDefect;
    this.#server = createNodeServer(this.#limits);
    this.#connections = new Connections(this.#limits.maxConnections);
    this.#inFlight = new InFlightRequests(this.#limits);
    const { slowReadMs } = this.#limits;
    this.#tunnels = new Tunnels({ inFlight: this.#inFlight, requestRate: this.#requestRate, slowReadMs });
    this.#server.on('connection', this.#connections.add);
    const paced = new PacedRequests(this.#onRequest);
    this.#server.on('request', paced.take);
    // A client that sends `Expect: 100-continue` gets the 100 when a route reads the body, not before.
    this.#server.on('checkContinue', paced.take);
    this.#server.on('connect', (request, socket, head) => {
      socket.on('error', () => {});
      this.#onConnect(tunnel, { request, socket, head }).catch((thrown: unknown) => {
        socket.destroy();
        this.#onDefect(thrown);
      });
    });
    this.#server.on('checkExpectation', (request, response) =>
      this.#reject(request, response, UNKNOWN_EXPECTATION),
    );
  }

  /** Authenticated requests without a complete response. */
  get inFlight(): number {
    return this.#inFlight.size;
  }

  /** Connections, and how many of them are authenticated. */
  get connections(): { readonly open: number; readonly known: number } {
    return this.#connections.counts;
  }

  /** LISTEN_FAILED if the address or port is not available. */
  async listen(port: number, host: string): Promise<ListenAddress> {
    await new Promise<void>((resolve, reject) => {
      const fail = (error: Error): void => reject(listenFailed(error, host, port));
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

  /** Accepts no new requests; those in progress may end within the shortest grace period given. */
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

  readonly #onRequest = (request: IncomingMessage, response: ServerResponse): void => {
    // Node continues to read what was sent along, although the connection is about to end.
    if (this.#endingSockets.has(request.socket)) return;
    if (request.headers.upgrade !== undefined) {
      // It gets a response like any other. But Node drops a part of what follows it, depending on the packets.
      response.setHeader('connection', 'close');
      this.#endingSockets.add(request.socket);
    }
    const errorResponse = this.#closing.aborted ? CLOSING : this.#authenticator.checkRequest(request);
    if (errorResponse !== undefined) return this.#reject(request, response, errorResponse);
    const target = request.url ?? '';
    const cut = target.indexOf('?');
    const path = cut === -1 ? target : target.slice(0, cut);
    const match = this.router.find(request.method ?? '', path);
    const incoming = { request, response, path, match };
    const access = match?.route.access ?? 'open';
    if (match !== undefined && access === 'open') return void this.#serve(incoming, match, ANONYMOUS);
    // An unauthenticated client does not learn which routes exist.
    const admitted = this.#authenticator.authenticate(request, access);
    if (admitted instanceof Promise) admitted.then((judged) => this.#onAuthenticated(incoming, judged));
    else this.#onAuthenticated(incoming, admitted);
  };

  #onAuthenticated(incoming: IncomingRequest, judged: Identity | ErrorResponse): void {
    const { request, response, path, match } = incoming;
    // Disconnected while its token was verified.
    if (request.socket.destroyed) return;
    if ('code' in judged) return this.#reject(request, response, judged);
    if (!this.#connections.markAuthenticated(request.socket, judged))
      return this.#reject(request, response, TOO_MANY_CONNECTIONS);
    const waitMs = this.#requestRate.take(identityOf(judged.caller));
    if (waitMs > 0)
      return this.#sendError(request, response, rateLimited('Too many requests with this token.', waitMs));
    if (match === undefined) return this.#sendError(request, response, unknownPath(this.router, path));
    if (!this.#inFlight.hasCapacity(judged)) return this.#sendError(request, response, TOO_BUSY);
    void this.#serve(incoming, match, judged);
  }

  /** The same authentication; a request that is not a tunnel is rejected as before. */
  async #onConnect(route: TunnelRoute | undefined, { request, socket, head }: IncomingTunnel): Promise<void> {
    // Two protocols must not mix on one connection: a tunnel is rejected behind a request without a response, and behind one
    // that ends the connection.
    if (currentResponse(socket) !== undefined || this.#endingSockets.has(request.socket))
      return void socket.destroy();
    const errorResponse = this.#closing.aborted ? CLOSING : this.#authenticator.checkTunnelRequest(request);
    if (errorResponse !== undefined) return sendErrorOnSocket(socket, errorResponse);
    if (route === undefined || request.url !== route.target) return sendErrorOnSocket(socket, METHOD_REFUSED);
    const judged = await this.#authenticator.authenticate(request, route.access);
    if (socket.destroyed) return;
    if ('code' in judged) return sendErrorOnSocket(socket, judged);
    if (!this.#connections.markAuthenticated(request.socket, judged))
      return sendErrorOnSocket(socket, TOO_MANY_CONNECTIONS);
    const waitMs = this.#requestRate.take(identityOf(judged.caller));
    if (waitMs > 0)
      return sendErrorOnSocket(socket, rateLimited('Too many requests with this token.', waitMs));
    const { headers } = request;
    const closing = this.#closing;
    await this.#tunnels.serve(route, { headers, identity: judged, socket, head, closing });
  }

  /** Accepts nothing more on a connection that was not authenticated. */
  #reject(request: IncomingMessage, response: ServerResponse, errorResponse: ErrorResponse): void {
    response.setHeader('connection', 'close');
    this.#sendError(request, response, errorResponse);
  }

  /** If the connection ends with the error, requests behind it would take effect without a response. */
  #sendError(request: IncomingMessage, response: ServerResponse, errorResponse: ErrorResponse): void {
    sendErrorResponse(request, response, errorResponse);
    if (response.getHeader('connection') === 'close') this.#endingSockets.add(request.socket);
  }

  async #serve(
    { request, response, path }: IncomingRequest,
    found: RouteMatch,
    identity: Identity,
  ): Promise<void> {
    const { route, parameters } = found;
    if (response.destroyed) return;
    const usage = this.#inFlight.enter(response, identity);
    response.once('close', () => this.#onResponseClosed(response));
    usage.isBusy = true;
    if (response.socket === null) this.#queuedResponses.add(request.socket, response);
    // A connection without a token ends with its first response.
    if (identity === ANONYMOUS && !this.#connections.isAuthenticated(request.socket)) {
      response.setHeader('connection', 'close');
      this.#endingSockets.add(request.socket);
    }
    const problems = identity.access.has('read') ? this.#countProblems() : 0;
    if (problems > 0) response.setHeader(PROBLEMS_HEADER, problems);
    try {
      const answer: unknown = await route.handle(
        new RequestContext({
          request,
          response,
          path,
          parameters,
          identity,
          maxBodyBytes: route.maxBodyBytes ?? this.#limits.maxBodyBytes,
          closing: this.#closing,
          usage,
        }),
      );
      if (answer !== undefined) {
        if (this.#closing.aborted) response.setHeader('connection', 'close');
        sendWithinLimit({ response, usage }, 200, await writeInSlices(answer));
      }
    } catch (thrown) {
      this.#sendError(request, response, toErrorResponse(thrown));
      if (!(thrown instanceof TurnbuckleError) || thrown.code === 'INTERNAL') this.#onDefect(thrown);
    } finally {
      this.#inFlight.settle(usage);
    }
    if (response.writableLength > 0) this.#inFlight.limitSlowReader(response);
  }

  #onResponseClosed(response: ServerResponse): void {
    this.#inFlight.leave(response);
    if (this.#closing.aborted) setImmediate(() => this.#server.closeIdleConnections());
  }
}

/** An incoming request with its route. */
interface IncomingRequest {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly path: string;
  readonly match: RouteMatch | undefined;
}

interface IncomingTunnel {
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
    // Rejected by authentication, in its own form.
    requireHostHeader: false,
  });
  // Beyond a count, Node drops headers silently; their size is limited anyway.
  server.maxHeadersCount = 0;
  server.on('clientError', answerClientError);
  return server;
}

const UNKNOWN_EXPECTATION: ErrorResponse = {
  code: 'REQUEST_INVALID',
  error: 'Unsupported Expect header.',
  hint: 'Send the request without the Expect header.',
};

const CLOSING: ErrorResponse = {
  code: 'RUNTIME_CLOSED',
  error: 'Turnbuckle is shutting down.',
  hint: 'Send the request again when it has restarted.',
};

const TOO_MANY_CONNECTIONS: ErrorResponse = {
  code: 'OVERLOADED',
  error: 'Too many open connections for this token.',
  hint: 'Close some of them, or reuse them (keep-alive).',
  data: { retryAfterMs: 1_000 },
};

const TOO_BUSY: ErrorResponse = {
  code: 'OVERLOADED',
  error: 'Too many requests in progress, for this token or for the daemon.',
  hint: 'Try again in a moment.',
  data: { retryAfterMs: 1_000 },
};

function unknownPath(router: Router, path: string): ErrorResponse {
  const hint = routesHint(router);
  const methods = router.methodsOf(path);
  if (methods.length === 0) return { code: 'PATH_UNKNOWN', error: 'No such route.', hint };
  const headers = { allow: methods.join(', ') };
  return { code: 'METHOD_REFUSED', error: 'This route does not support the method.', hint, headers };
}

/** The bridge alone has no document of its routes. */
function routesHint(router: Router): string {
  if (router.find('GET', '/openapi.json') !== undefined) return 'List all routes: GET /openapi.json.';
  return `Use one of these: ${router.routes.map(({ method, path }) => `${method} ${path}`).join(', ')}.`;
}

const LISTEN_ERRORS: Readonly<Record<string, { readonly because: string; readonly hint: string }>> = {
  EADDRINUSE: {
    because: 'the port is already in use',
    hint: 'Choose another port (--port <n>, or --port 0 for any free port), or stop the program that uses this port.',
  },
  EADDRNOTAVAIL: {
    because: 'this machine has no such address',
    hint: "Choose one of this machine's addresses: --host 127.0.0.1 for local programs only, or --host 0.0.0.0 for all networks.",
  },
  EACCES: {
    because: 'permission denied',
    hint: 'Choose a port above 1023: --port <n>',
  },
};

function listenFailed(error: NodeJS.ErrnoException, host: string, port: number): TurnbuckleError {
  const reason = error.code ?? 'unknown error';
  const { because, hint } = LISTEN_ERRORS[reason] ?? {
    because: reason,
    hint: 'Choose another address (--host) or port (--port).',
  };
  return new TurnbuckleError('LISTEN_FAILED', `Cannot listen on ${host} port ${port}: ${because}.`, {
    hint,
    cause: error,
    data: { host, port, reason },
  });
}
