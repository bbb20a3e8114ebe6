/**
 * The express lane over Streamable HTTP: a POST for each request on its own socket pool, responses as JSON or as an
 * event stream, resumed if the revision allows it. Session and version come from the SDK's transport, which did the
 * handshake.
 */
import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import type { TurnbuckleError } from '../../errors.js';
import type { IgnoredMessages } from '../protocol/ignored-messages.js';
import type { MessageRules, ServerRequest } from '../protocol/message.js';
import type { ClientResponder } from '../server-requests/client-responders.js';
import type { HttpEndpoint } from '../transports/http/http-endpoint.js';
import { HttpExchange } from '../transports/http/http-exchange.js';
import { encodeHeaderValue } from '../transports/http/mcp-headers.js';
import { FIRST_ID, isProgress, LAST_ID } from './channel-lane.js';
import type { Envelope, Lane, LaneRequest, LaneResult } from './lane.js';
import { type AbandonReason, PendingRequest } from './pending-request.js';
import { PendingRequests } from './pending-requests.js';
import { serializeRequest } from './serialize-request.js';
import { tooManyPending } from './server-error.js';

/** What the lane needs from the SDK's transport. */
export interface HttpSession {
  readonly sessionId: string | undefined;
  readonly protocolVersion: string | undefined;
  /** Notifications on a response stream: for the responder of the request, or for the connection. */
  deliver(notice: JSONRPCMessage, responder: ClientResponder | undefined): void;
  /** Answers a request that arrived there, unless there are too many. Never rejects. */
  answer(question: ServerRequest, responder: ClientResponder | undefined): Promise<void> | undefined;
}

export interface HttpLaneOptions {
  readonly server: string;
  readonly endpoint: HttpEndpoint;
  readonly session: HttpSession;
  readonly maxBytes: number;
  readonly rules: MessageRules;
  readonly ignored: IgnoredMessages;
  /** The endpoint is unreachable, rejects us, or does not know the session. */
  readonly onBroken: (error: TurnbuckleError) => void;
}

/** A map: clients choose the method names, and every object has a `constructor`. */
const NAME_PARAMETERS: ReadonlyMap<string, string> = new Map([
  ['tools/call', 'name'],
  ['prompts/get', 'name'],
  ['resources/read', 'uri'],
  ['tasks/get', 'taskId'],
  ['tasks/update', 'taskId'],
  ['tasks/cancel', 'taskId'],
]);

/** How long requests may continue after another one found that a person has to sign in. */
const DRAIN_TIMEOUT_MS = 10_000;

export class HttpLane implements Lane {
  envelope: Envelope | undefined;
  readonly #options: HttpLaneOptions;
  readonly #exchanges = new PendingRequests<HttpExchange>(FIRST_ID, LAST_ID);
  #openServerRequests = 0;
  /** Why a person has to sign in: passed to every request that waits for a credential. */
  #authError: TurnbuckleError | undefined;

  constructor(options: HttpLaneOptions) {
    this.#options = options;
  }

  request(request: LaneRequest): Promise<LaneResult> {
    const { server, endpoint, session, maxBytes, rules, ignored } = this.#options;
    const id = this.#exchanges.reserve();
    if (id === undefined) return Promise.reject(tooManyPending(server));
    request.onId?.(id);
    let text: string;
    let headers: Record<string, string>;
    try {
      text = serializeRequest(server, request, { id, envelope: this.envelope });
      headers = this.#headers(request);
    } catch (error) {
      this.#exchanges.release(id);
      return Promise.reject(error);
    }
    const pendingRequest = new PendingRequest({
      id,
      server,
      request,
      hasOpenServerRequest: this.#hasOpenServerRequest,
      onAbandon: this.#onAbandon,
    });
    if (pendingRequest.isSettled) {
      this.#exchanges.release(id);
      return pendingRequest.promise;
    }
    const exchange = new HttpExchange({
      server,
      endpoint,
      pendingRequest,
      maxBytes,
      rules,
      ignored,
      headers,
      resumable: this.envelope === undefined,
      hasSession: session.sessionId !== undefined,
      deliver: this.#deliver,
      answer: this.#answer,
      onBroken: this.#onBroken,
      onDone: () => this.#exchanges.delete(id),
    });
    this.#exchanges.put(id, exchange);
    exchange.post(text);
    return pendingRequest.promise;
  }

  /** Handles a message that did not come on its request's own response; true if it was for the lane. */
  accept(message: JSONRPCMessage): boolean {
    if (!('method' in message)) {
      const exchange = typeof message.id === 'number' ? this.#exchanges.get(message.id) : undefined;
      exchange?.accept(message);
      return exchange !== undefined;
    }
    if (message.method !== 'notifications/progress' || !isProgress(message.params)) return false;
    const { progressToken } = message.params;
    const exchange = typeof progressToken === 'number' ? this.#exchanges.get(progressToken) : undefined;
    exchange?.accept(message);
    return exchange !== undefined;
  }

  /** If a person has to sign in, requests that were sent end by themselves: most are rejected as well. */
  async drain(): Promise<void> {
    if (this.#authError === undefined) return;
    for (const exchange of this.#exchanges.values()) exchange.failIfUnsent(this.#authError);
    const all = Promise.allSettled(this.#exchanges.values().map(({ settled }) => settled));
    await Promise.race([all, new Promise((resolve) => setTimeout(resolve, DRAIN_TIMEOUT_MS).unref())]);
  }

  /** Ends all requests in flight; those that were sent may have been executed. */
  close(error: TurnbuckleError): void {
    for (const exchange of this.#exchanges.values()) exchange.abort(error);
  }

  readonly #hasOpenServerRequest = (): boolean => this.#openServerRequests > 0;

  readonly #deliver = (notice: JSONRPCMessage, flight: PendingRequest): void =>
    this.#options.session.deliver(notice, flight.request.responder);

  readonly #answer = (question: ServerRequest, flight: PendingRequest): void => {
    // The newer revision does not allow requests of the server.
    if (this.envelope !== undefined) return;
    const answering = this.#options.session.answer(question, flight.request.responder);
    if (answering === undefined) return;
    this.#openServerRequests += 1;
    void answering.then(() => {
      this.#openServerRequests -= 1;
      flight.noteActivity();
    });
  };

  readonly #onBroken = (error: TurnbuckleError): void => {
    if (error.code === 'AUTH_REQUIRED') this.#authError = error;
    this.#options.onBroken(error);
  };

  #headers(request: LaneRequest): Record<string, string> {
    const { endpoint, session } = this.#options;
    const headers: Record<string, string> = {
      ...endpoint.headers,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    };
    if (session.protocolVersion !== undefined) headers['mcp-protocol-version'] = session.protocolVersion;
    if (session.sessionId !== undefined) headers['mcp-session-id'] = session.sessionId;
    if (this.envelope === undefined) return headers;
    headers['mcp-method'] = request.method;
    const named = NAME_PARAMETERS.get(request.method);
    const name = named === undefined ? undefined : request.params[named];
    if (typeof name === 'string') headers['mcp-name'] = encodeHeaderValue(name);
    return request.headers === undefined ? headers : { ...headers, ...request.headers };
  }

  readonly #onAbandon = (flight: PendingRequest, why: AbandonReason): void => {
    this.#exchanges.get(flight.id)?.abort();
    // In the newer revision, closing the stream cancels; the older one needs a notification.
    if (this.envelope !== undefined) return;
    const { endpoint, maxBytes, server, session, rules, ignored } = this.#options;
    const params = {
      requestId: flight.id,
      reason: why === 'timeout' ? 'The request timed out' : 'The caller cancelled',
    };
    const request: LaneRequest = {
      method: 'notifications/cancelled',
      params,
      timeoutMs: 5_000,
      maxTotalMs: 5_000,
    };
    const notice = new PendingRequest({
      id: 0,
      server,
      request,
      hasOpenServerRequest: () => false,
      // A server that never responds must not keep the socket.
      onAbandon: () => exchange.abort(),
    });
    notice.promise.catch(() => {});
    const exchange = new HttpExchange({
      server,
      endpoint,
      pendingRequest: notice,
      maxBytes,
      rules,
      ignored,
      headers: this.#headers(request),
      resumable: false,
      hasSession: session.sessionId !== undefined,
      deliver: () => {},
      answer: () => {},
      onBroken: () => {},
      onDone: () => {},
    });
    exchange.post(JSON.stringify({ jsonrpc: '2.0', method: request.method, params }));
  };
}
