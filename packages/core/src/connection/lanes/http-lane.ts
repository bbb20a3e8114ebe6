/**
 * The express lane over Streamable HTTP: a POST for each request on a pool of our own, answers as JSON or
 * as an event stream, resumed where the revision allows it. Session and version come from the SDK's
 * transport, which did the handshake.
 */
import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import type { TurnbuckleError } from '../errors.js';
import { FIRST_ID, isProgress, LAST_ID } from './channel-lane.js';
import { type Abandoned, Flight } from './flight.js';
import type { HttpEndpoint } from './http-endpoint.js';
import { HttpExchange } from './http-exchange.js';
import type { IgnoredMessages } from './ignored-messages.js';
import { completeParams, type Envelope, type Lane, type LaneRequest, type LaneResult } from './lane.js';
import { encodeHeaderValue } from './mcp-headers.js';
import type { MessageRules, ServerQuestion } from './message.js';
import { requestText } from './request-text.js';
import type { Respondent } from './respondents.js';
import { Slots } from './slots.js';

/** What the lane needs of the SDK's transport. */
export interface HttpSession {
  readonly sessionId: string | undefined;
  readonly protocolVersion: string | undefined;
  /** Notices on an answer's stream: for who is behind the request, or for the connection. */
  deliver(notice: JSONRPCMessage, respondent: Respondent | undefined): void;
  /** Answers a question that came there, unless too many come. Never rejects. */
  answer(question: ServerQuestion, respondent: Respondent | undefined): Promise<void> | undefined;
}

export interface HttpLaneOptions {
  readonly server: string;
  readonly endpoint: HttpEndpoint;
  readonly session: HttpSession;
  readonly maxBytes: number;
  readonly rules: MessageRules;
  readonly ignored: IgnoredMessages;
  /** The endpoint cannot be reached, refuses us, or has forgotten the session. */
  readonly onBroken: (error: TurnbuckleError) => void;
}

/** A map: methods are named by clients, and every object has a `constructor`. */
const NAMED: ReadonlyMap<string, string> = new Map([
  ['tools/call', 'name'],
  ['prompts/get', 'name'],
  ['resources/read', 'uri'],
  ['tasks/get', 'taskId'],
  ['tasks/update', 'taskId'],
  ['tasks/cancel', 'taskId'],
]);

/** How long requests may go on after another one found that a person is needed. */
const DRAIN_MS = 10_000;

export class HttpLane implements Lane {
  envelope: Envelope | undefined;
  readonly #options: HttpLaneOptions;
  readonly #exchanges = new Slots<HttpExchange>(FIRST_ID, LAST_ID);
  #questions = 0;
  /** Why a person is needed: all who wait for a credential are told. */
  #refusal: TurnbuckleError | undefined;

  constructor(options: HttpLaneOptions) {
    this.#options = options;
  }

  request(request: LaneRequest): Promise<LaneResult> {
    const { server, endpoint, session, maxBytes, rules, ignored } = this.#options;
    const id = this.#exchanges.reserve();
    const params = completeParams(request, this.envelope, id);
    let text: string;
    let headers: Record<string, string>;
    try {
      text = requestText(server, { jsonrpc: '2.0', id, method: request.method, params });
      headers = this.#headers(request);
    } catch (error) {
      this.#exchanges.release(id);
      return Promise.reject(error);
    }
    const flight = new Flight({
      id,
      server,
      request,
      isAsking: this.#isAsking,
      onAbandon: this.#onAbandon,
    });
    const exchange = new HttpExchange({
      server,
      endpoint,
      flight,
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
    return flight.promise;
  }

  /** Takes a message that came another way than on its request's own answer; true when it was for the lane. */
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

  /** Where a person is needed, requests that are with the server end by themselves: most are refused as well. */
  async drain(): Promise<void> {
    if (this.#refusal === undefined) return;
    for (const exchange of this.#exchanges.values()) exchange.giveUp(this.#refusal);
    const all = Promise.allSettled(this.#exchanges.values().map(({ settled }) => settled));
    await Promise.race([all, new Promise((resolve) => setTimeout(resolve, DRAIN_MS).unref())]);
  }

  /** Ends every request on its way; what was sent may have happened. */
  close(error: TurnbuckleError): void {
    for (const exchange of this.#exchanges.values()) exchange.abort(error);
  }

  readonly #isAsking = (): boolean => this.#questions > 0;

  readonly #deliver = (notice: JSONRPCMessage, flight: Flight): void =>
    this.#options.session.deliver(notice, flight.request.respondent);

  readonly #answer = (question: ServerQuestion, flight: Flight): void => {
    // In the newer revision a request of the server's has no place.
    if (this.envelope !== undefined) return;
    const answering = this.#options.session.answer(question, flight.request.respondent);
    if (answering === undefined) return;
    this.#questions += 1;
    void answering.then(() => {
      this.#questions -= 1;
      flight.touch();
    });
  };

  readonly #onBroken = (error: TurnbuckleError): void => {
    if (error.code === 'AUTH_REQUIRED') this.#refusal = error;
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
    const named = NAMED.get(request.method);
    const name = named === undefined ? undefined : request.params[named];
    if (typeof name === 'string') headers['mcp-name'] = encodeHeaderValue(name);
    return request.headers === undefined ? headers : { ...headers, ...request.headers };
  }

  readonly #onAbandon = (flight: Flight, why: Abandoned): void => {
    this.#exchanges.get(flight.id)?.abort();
    // In the newer revision the closed stream is the cancellation; the older one wants to be told.
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
    const notice = new Flight({ id: 0, server, request, isAsking: () => false, onAbandon: () => {} });
    notice.promise.catch(() => {});
    new HttpExchange({
      server,
      endpoint,
      flight: notice,
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
    }).post(JSON.stringify({ jsonrpc: '2.0', method: request.method, params }));
  };
}
