import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Channel } from '../kernel/channel.js';
import type { FixtureServer } from '../kernel/fixture-server.js';
import { isObject, type JsonObject, toObject } from '../kernel/json.js';
import { fail } from '../kernel/messages.js';
import { checkRequestHeaders } from '../kernel/request-headers.js';
import { claimedRevision, MODERN_REVISION } from '../kernel/revisions.js';
import { INVALID_REQUEST, PARSE_ERROR, RpcError, toRpcError } from '../kernel/rpc-error.js';
import { EventStream } from './event-stream.js';
import { Exchange, type ResponseMode } from './exchange.js';
import { HttpSession } from './http-session.js';
import { announceReady, type LoopbackOptions, listenOnLoopback } from './loopback.js';
import { readBody } from './read-body.js';

/** Handles each request first; true means that it has sent the response. */
export type Gate = (request: IncomingMessage, response: ServerResponse) => boolean;

export interface HttpOptions extends LoopbackOptions {
  readonly answers: ResponseMode;
  /** No sessions in the legacy era: each POST is independent. */
  readonly stateless: boolean;
  /** After this number of POSTs a session is forgotten (0: never). */
  readonly forgetAfter: number;
  readonly gate?: Gate;
}

const NULL_CHANNEL: Channel = { deliver() {}, writeRaw() {}, drop() {} };
const HEADER_SINCE = '2025-06-18';

/** Serves Streamable HTTP at `/mcp` in both eras: sessions for legacy clients, one exchange per modern request. */
export async function serveHttp(server: FixtureServer, options: HttpOptions): Promise<void> {
  const endpoint = new HttpEndpoint(server, options);
  const { origin } = await listenOnLoopback(options.port, (request, response) => {
    if (options.gate?.(request, response)) return;
    if (new URL(request.url ?? '/', 'http://localhost').pathname !== '/mcp') return refuse(response, 404);
    void endpoint.handle(request, response);
  });
  announceReady(`${origin}/mcp`, options);
}

class HttpEndpoint {
  readonly #server: FixtureServer;
  readonly #options: HttpOptions;
  readonly #sessions = new Map<string, { session: HttpSession; posts: number }>();

  constructor(server: FixtureServer, options: HttpOptions) {
    this.#server = server;
    this.#options = options;
  }

  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.method === 'POST') return this.#handlePost(request, response);
    const sessionful = this.#server.dialect.eras.includes('legacy') && !this.#options.stateless;
    if (!sessionful || !['GET', 'DELETE'].includes(request.method ?? '')) return refuse(response, 405);
    const session = this.#find(request, response);
    if (session === undefined) return;
    if (request.method === 'GET') return session.get(request, response);
    this.#forget(session);
    response.writeHead(200).end();
  }

  async #handlePost(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const accept = String(request.headers.accept);
    if (!accept.includes('application/json') || !accept.includes('text/event-stream'))
      return refuse(response, 406);
    if (!/^application\/json\b/.test(request.headers['content-type'] ?? '')) return refuse(response, 415);
    const message = parse(await readBody(request));
    if (!isObject(message)) return refuse(response, 400, PARSE_ERROR);
    if (this.#isModern(message, request)) return this.#answerModern(message, request, response);
    await this.#answerInSession(message, request, response);
  }

  #isModern(message: JsonObject, request: IncomingMessage): boolean {
    const { eras } = this.#server.dialect;
    if (!eras.includes('modern')) return false;
    return (
      !eras.includes('legacy') ||
      claimedRevision(toObject(message.params)) !== undefined ||
      request.headers['mcp-protocol-version'] === MODERN_REVISION
    );
  }

  async #answerModern(
    message: JsonObject,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    const { id, method } = message;
    if (typeof method !== 'string') return refuse(response, 400, INVALID_REQUEST);
    if (id === undefined) return void response.writeHead(202).end();
    const exchange = new Exchange(response, {
      answers: method === 'subscriptions/listen' ? 'sse' : this.#options.answers,
      stream: () => new EventStream({ id: 'stream', resumable: false }),
    });
    const params = toObject(message.params);
    try {
      if (claimedRevision(params) !== undefined) {
        checkRequestHeaders({ headers: request.headers, method, params }, this.#schemaOf(params.name));
      }
    } catch (thrown) {
      return fail(exchange, typeof id === 'string' || typeof id === 'number' ? id : null, toRpcError(thrown));
    }
    const session = this.#server.open(NULL_CHANNEL);
    // In the modern era a client cancels by closing the response.
    response.on('close', () => this.#server.close(session));
    await session.receive(message, exchange);
  }

  async #answerInSession(
    message: JsonObject,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    const session = this.#sessionFor(message, request, response);
    if (session === undefined) return;
    if (typeof message.method === 'string' && message.id !== undefined)
      return session.post(message, response);
    response.writeHead(202).end();
    await session.session.receive(message, NULL_CHANNEL);
  }

  #sessionFor(
    message: JsonObject,
    request: IncomingMessage,
    response: ServerResponse,
  ): HttpSession | undefined {
    if (this.#options.stateless) {
      const session = new HttpSession(this.#server, this.#options.answers);
      const revision = request.headers['mcp-protocol-version'];
      if (message.method !== 'initialize') session.session.revision = String(revision ?? '2025-03-26');
      response.on('close', () => this.#server.close(session.session));
      return session;
    }
    if (message.method !== 'initialize') return this.#find(request, response);
    const session = new HttpSession(this.#server, this.#options.answers, randomUUID());
    this.#sessions.set(session.id ?? '', { session, posts: 0 });
    return session;
  }

  /** The session that a request names; if there is none, refuses the request. */
  #find(request: IncomingMessage, response: ServerResponse): HttpSession | undefined {
    const id = request.headers['mcp-session-id'];
    if (id === undefined) return void refuse(response, 400);
    const entry = this.#sessions.get(String(id));
    if (entry === undefined) return void refuse(response, 404);
    const { revision = '' } = entry.session.session;
    const header = request.headers['mcp-protocol-version'];
    if (header === undefined ? revision >= HEADER_SINCE : header !== revision)
      return void refuse(response, 400);
    if (request.method === 'POST') entry.posts += 1;
    if (this.#options.forgetAfter > 0 && entry.posts > this.#options.forgetAfter) {
      this.#forget(entry.session);
      return void refuse(response, 404);
    }
    return entry.session;
  }

  #forget(session: HttpSession): void {
    session.finish();
    this.#server.close(session.session);
    this.#sessions.delete(session.id ?? '');
  }

  #schemaOf(name: unknown): unknown {
    return this.#server.behaviour.tools?.find(({ definition }) => definition.name === name)?.definition
      .inputSchema;
  }
}

const REASONS: Readonly<Record<number, string>> = {
  400: 'Bad Request: no valid session or protocol version',
  404: 'Session not found',
  405: 'Method not allowed',
  406: 'Not Acceptable: accept both application/json and text/event-stream',
  415: 'Unsupported Media Type',
};

function refuse(response: ServerResponse, status: number, code = -32000): void {
  const error = new RpcError(code, REASONS[status] ?? 'refused');
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ jsonrpc: '2.0', id: null, error: error.toJson() }));
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
