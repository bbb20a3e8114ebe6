/** The HTTP server: limits, doors, router, and one way to answer errors. What the routes do is theirs. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ERRORS, TurnbuckleError, toTurnbuckleError } from 'turnbuckle';
import type { Doors, Refusal } from './doors.js';
import type { RateLimit } from './rate-limit.js';
import { type Route, Router } from './route.js';

export interface HttpLimits {
  readonly maxConnections: number;
  readonly maxInFlight: number;
  readonly headersTimeoutMs: number;
  readonly requestTimeoutMs: number;
}

export interface HttpServerOptions {
  readonly routes: readonly Route[];
  readonly doors: Doors;
  readonly limits: HttpLimits;
  readonly rateLimit: RateLimit;
  /** A defect of ours in a route. */
  readonly onDefect: (error: unknown) => void;
}

const MAX_HEADER_BYTES = 16 * 1_024;

export class HttpServer {
  readonly #options: HttpServerOptions;
  readonly #router: Router;
  readonly #server: Server;
  #inFlight = 0;
  #closing = false;

  constructor(options: HttpServerOptions) {
    this.#options = options;
    this.#router = new Router(options.routes);
    const { limits } = options;
    this.#server = createServer(
      {
        maxHeaderSize: MAX_HEADER_BYTES,
        headersTimeout: limits.headersTimeoutMs,
        requestTimeout: limits.requestTimeoutMs,
        keepAliveTimeout: 30_000,
        insecureHTTPParser: false,
        requireHostHeader: true,
      },
      (request, response) => void this.#visit(request, response),
    );
    this.#server.maxConnections = limits.maxConnections;
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  async listen(port: number, host: string): Promise<AddressInfo> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(port, host, resolve);
    });
    return this.#server.address() as AddressInfo;
  }

  /** No new requests; those on their way may end within the time, the rest is cut off. */
  async close(graceMs: number): Promise<void> {
    this.#closing = true;
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    this.#server.closeIdleConnections();
    const timer = setTimeout(() => this.#server.closeAllConnections(), graceMs);
    await closed;
    clearTimeout(timer);
  }

  async #visit(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.#inFlight += 1;
    response.once('close', () => {
      this.#inFlight -= 1;
    });
    response.setHeader('x-content-type-options', 'nosniff');
    response.setHeader('cache-control', 'no-store');
    if (this.#closing) response.setHeader('connection', 'close');
    try {
      await this.#answer(request, response);
    } catch (thrown) {
      const error = toTurnbuckleError(thrown);
      if (error.code === 'INTERNAL') this.#options.onDefect(thrown);
      sendError(request, response, error);
    }
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { doors, limits, rateLimit } = this.#options;
    const refused = doors.refuseAddress(request);
    if (refused !== undefined) return sendRefusal(request, response, refused);
    const url = new URL(request.url ?? '/', 'http://localhost');
    const found = this.#router.find(request.method ?? 'GET', url.pathname);
    // Who may not come in does not learn which doors there are.
    const visitor = await this.#admit(request, found?.route);
    if ('status' in visitor) return sendRefusal(request, response, visitor);
    if (found === undefined) return this.#unknown(request, response, url.pathname);
    const waitMs = rateLimit.take(visitor.caller.id);
    if (waitMs > 0) throw slowDown(waitMs);
    if (this.#inFlight > limits.maxInFlight) throw tooBusy(this.#inFlight);
    const gone = new AbortController();
    response.once('close', () => gone.abort());
    const { route, parameters } = found;
    const answer = await route.handle({
      request,
      response,
      url,
      parameters,
      caller: visitor.caller,
      signal: gone.signal,
    });
    if (answer !== undefined) sendJson(response, 200, answer);
  }

  #admit(request: IncomingMessage, route: Route | undefined): ReturnType<Doors['admit']> {
    if (route?.access === 'open')
      return Promise.resolve({ caller: { id: 'anybody', capabilities: [] }, access: new Set() });
    return this.#options.doors.admit(request, route?.access ?? 'open');
  }

  #unknown(request: IncomingMessage, response: ServerResponse, path: string): void {
    const methods = this.#router.methodsOf(path);
    if (methods.length > 0) response.setHeader('allow', methods.join(', '));
    request.resume();
    sendJson(response, methods.length > 0 ? 405 : 404, {
      success: false,
      error: methods.length > 0 ? `${request.method} is not known here.` : 'There is nothing at this address.',
      code: methods.length > 0 ? 'METHOD_NOT_ALLOWED' : 'NOT_FOUND',
      hint: 'GET /openapi.json lists what there is.',
    });
  }
}

export function sendJson(response: ServerResponse, status: number, body: unknown): void {
  sendText(response, status, JSON.stringify(body));
}

/** JSON that is text already. */
export function sendText(response: ServerResponse, status: number, text: string): void {
  if (response.headersSent) return void response.end();
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
  });
  response.end(text);
}

function sendRefusal(request: IncomingMessage, response: ServerResponse, refusal: Refusal): void {
  const { status, code, error, hint } = refusal;
  if (status === 401) response.setHeader('www-authenticate', 'Bearer realm="turnbuckle"');
  // What was not let in is not read either.
  response.setHeader('connection', 'close');
  request.resume();
  sendJson(response, status, { success: false, error, code, hint });
}

function sendError(request: IncomingMessage, response: ServerResponse, error: TurnbuckleError): void {
  const { code, message, hint, server, tool, data } = error;
  const retryAfterMs = data?.retryAfterMs;
  if (typeof retryAfterMs === 'number')
    response.setHeader('retry-after', Math.max(Math.ceil(retryAfterMs / 1_000), 1));
  if (!request.complete) {
    response.setHeader('connection', 'close');
    request.resume();
  }
  sendJson(response, ERRORS[code].http, { success: false, error: message, code, hint, server, tool });
}

function slowDown(waitMs: number): TurnbuckleError {
  return new TurnbuckleError('RATE_LIMITED', 'This token makes too many requests.', {
    hint: `Try again in ${Math.ceil(waitMs / 1_000)} s.`,
    data: { retryAfterMs: waitMs },
  });
}

function tooBusy(inFlight: number): TurnbuckleError {
  return new TurnbuckleError('OVERLOADED', `${inFlight} requests are on their way: too many.`, {
    hint: 'Try again in a moment.',
    data: { retryAfterMs: 1_000 },
  });
}
