/** One POST and its response: a JSON body, an event stream, a redirect within the origin, or an error. */
import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import type { Dispatcher } from 'undici';
import { timerDelay } from '../../../async/timer-delay.js';
import type { Credentials } from '../../../auth/authorizer.js';
import { errorCode, type TurnbuckleError, toTurnbuckleError } from '../../../errors.js';
import { GrowingBuffer } from '../../../fetching/growing-buffer.js';
import { spendTurn } from '../../../json/slices.js';
import { isProgress } from '../../lanes/channel-lane.js';
import type { PendingRequest } from '../../lanes/pending-request.js';
import { connectionLost, messageHandlingError } from '../../lanes/server-error.js';
import { chunkCost, StreamPauses } from '../../protocol/flood-meter.js';
import type { IgnoredMessages, IgnoredReason } from '../../protocol/ignored-messages.js';
import type { MessageRules, ServerRequest } from '../../protocol/message.js';
import { MessageReader } from '../../protocol/message-reader.js';
import { EventLines } from './event-lines.js';
import { EventReader } from './event-reader.js';
import { type HttpEndpoint, MAX_ERROR_BODY_BYTES, responseTooLarge } from './http-endpoint.js';
import { crossOriginRedirect, fromHttpError, isConnectFailure, noAnswerError, textOf } from './http-error.js';

/** How long a stream may stay open after its response. */
const STREAM_END_MS = 1_000;
/** What is read of a stream after its response, such as a last comment. */
const MAX_DROPPED_BYTES = 16 * 1_024;
const MAX_REDIRECTS = 3;
const MAX_RESUMES = 5;
/** Also the minimum that a server can request: it may end each stream immediately. */
const RESUME_DEFAULT_MS = 1_000;
const RESUME_MAX_MS = 30_000;

export interface ExchangeOptions {
  readonly server: string;
  readonly endpoint: HttpEndpoint;
  readonly pendingRequest: PendingRequest;
  readonly maxBytes: number;
  readonly rules: MessageRules;
  readonly ignored: IgnoredMessages;
  readonly headers: Record<string, string>;
  /** The older revisions allow a broken stream to be resumed at its last event. */
  readonly resumable: boolean;
  readonly hasSession: boolean;
  readonly deliver: (message: JSONRPCMessage, pendingRequest: PendingRequest) => void;
  readonly answer: (question: ServerRequest, pendingRequest: PendingRequest) => void;
  readonly onBroken: (error: TurnbuckleError) => void;
  readonly onDone: () => void;
}

interface Head {
  readonly status: number;
  readonly headers: Record<string, string | string[] | undefined>;
}

export class HttpExchange {
  readonly #options: ExchangeOptions;
  #controller: Dispatcher.DispatchController | undefined;
  #pauses: StreamPauses | undefined;
  #body: string | undefined;
  #url: URL;
  #head: Head | undefined;
  #buffer: GrowingBuffer | EventLines = new GrowingBuffer();
  #events: EventReader | undefined;
  #lastEventId: string | undefined;
  #retryMs = RESUME_DEFAULT_MS;
  #redirects = 0;
  #resumes = 0;
  #timer: NodeJS.Timeout | undefined;
  #credentials: Credentials = {};
  #refusals = 0;
  #method: 'POST' | 'GET' = 'POST';
  /** Without a credential nothing has reached the server: not sent yet, or rejected. */
  #awaitsCredentials = false;
  #done = false;
  #droppedBytes = 0;
  #isEnded = false;
  readonly #reader: MessageReader;

  constructor(options: ExchangeOptions) {
    this.#options = options;
    this.#reader = new MessageReader(options.rules, this, { onBusy: this.#onBusy });
    this.#url = options.endpoint.url;
  }

  post(body: string): void {
    this.#body = body;
    this.#dispatch('POST');
  }

  /** Settles with the response, or with the failure of the request. */
  get settled(): Promise<unknown> {
    return this.#options.pendingRequest.promise;
  }

  /** A request that waits for a credential fails with the rejection of another one. */
  failIfUnsent(refusal: TurnbuckleError): void {
    if (this.#isUnsent && !this.#done) this.#fail(refusal);
  }

  /** Stops reading; with an error the request fails, without one it is already settled. */
  abort(error?: TurnbuckleError): void {
    this.#finish();
    const { server, pendingRequest } = this.#options;
    if (error !== undefined)
      pendingRequest.fail(this.#isUnsent ? connectionLost(server, { sent: false }) : error);
    this.#controller?.abort(new Error('The request was abandoned'));
  }

  /** A resumed stream belongs to a request that was accepted. */
  get #isUnsent(): boolean {
    return this.#awaitsCredentials && this.#method === 'POST';
  }

  #dispatch(method: 'POST' | 'GET'): void {
    const { endpoint } = this.#options;
    this.#method = method;
    this.#awaitsCredentials = true;
    const credentials = endpoint.authorizer?.headers({ method, url: this.#url });
    if (!(credentials instanceof Promise)) return this.#send(method, credentials ?? {});
    credentials.then(
      (ready) => {
        if (!this.#done) this.#send(method, ready);
      },
      (error: unknown) => this.#unauthorized(error),
    );
  }

  #send(method: 'POST' | 'GET', credentials: Credentials): void {
    const { endpoint } = this.#options;
    const headers = { ...this.#options.headers, ...credentials };
    this.#credentials = credentials;
    this.#awaitsCredentials = false;
    this.#isEnded = false;
    const resumed = method === 'GET' && this.#lastEventId !== undefined;
    this.#head = undefined;
    this.#buffer = new GrowingBuffer();
    this.#events = undefined;
    this.#pauses = undefined;
    endpoint.dispatch(
      {
        path: this.#url.pathname + this.#url.search,
        method,
        headers: resumed
          ? { ...headers, accept: 'text/event-stream', 'last-event-id': toHeaderText(this.#lastEventId) }
          : headers,
        ...(method === 'POST' && this.#body !== undefined && { body: this.#body }),
      },
      {
        onRequestStart: (controller) => {
          this.#controller = controller;
          if (this.#done) controller.abort(new Error('The request was abandoned'));
        },
        onResponseStart: (_controller, status, responseHeaders) =>
          this.#onHead({ status, headers: responseHeaders }),
        onResponseData: (controller, chunk) => this.#onData(controller, chunk),
        onResponseEnd: () => this.#onEnd(),
        onResponseError: (_controller, error) => this.#onError(error),
      },
    );
  }

  #onHead(head: Head): void {
    this.#head = head;
    const { endpoint } = this.#options;
    if (head.status >= 200) endpoint.wire.response();
    endpoint.authorizer?.observe?.(endpoint.url, (name) => textOf(head.headers[name]));
    if (head.status !== 200 || !String(head.headers['content-type']).includes('text/event-stream')) return;
    this.#buffer = new EventLines();
    this.#events = new EventReader({
      onEvent: (event) => {
        if (event.id !== undefined)
          this.#lastEventId = CONTROL_CHARACTER.test(event.id) ? undefined : event.id;
        if (event.data !== '' && (event.event === undefined || event.event === 'message'))
          this.#reader.push(event.data);
      },
      onRetry: (ms) => {
        this.#retryMs = timerDelay(ms, { minMs: RESUME_DEFAULT_MS, maxMs: RESUME_MAX_MS });
      },
    });
  }

  #onData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    const { maxBytes, server, endpoint } = this.#options;
    endpoint.wire.payload(chunk.length);
    if (this.#done) return this.#dropRest(controller, chunk);
    const max = this.#head?.status === 200 ? maxBytes : MAX_ERROR_BODY_BYTES;
    const lines = this.#buffer.push(chunk);
    if (this.#buffer.length > max) {
      this.#fail(responseTooLarge({ server, maxBytes: max }));
      controller.abort(new Error('The response is too large'));
    } else if (lines !== undefined && this.#events !== undefined) {
      const events = this.#events;
      const isTurnSpent = spendTurn(() => events.read(lines));
      // A large message is known to be the response only after it was parsed.
      this.#reader.whenIdle(() => {
        if (this.#done || this.#isEnded) return;
        const pauseMs = endpoint.flood.record(chunkCost(lines));
        this.#pause(controller, isTurnSpent ? Math.max(pauseMs, 1) : pauseMs);
      });
    }
  }

  /** The request has its response: nothing that follows is for it, and a server could send it without end. */
  #dropRest(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#droppedBytes += chunk.length;
    if (this.#droppedBytes > MAX_DROPPED_BYTES)
      controller.abort(new Error('The server sent more after the response'));
  }

  #pause(controller: Dispatcher.DispatchController, ms: number): void {
    if (ms <= 0) return;
    this.#pauses ??= new StreamPauses(controller);
    this.#pauses.pauseFor(ms);
  }

  /** A bug in handling a message fails only this request. */
  readonly onmessage = (message: JSONRPCMessage): void => {
    try {
      this.accept(message);
    } catch (cause) {
      this.#fail(messageHandlingError(this.#options.server, cause));
    }
  };

  readonly onignored = (reason: IgnoredReason): void => this.#options.ignored.note(reason);

  readonly isawaited = (id: string | number): boolean =>
    !this.#done && id === this.#options.pendingRequest.id;

  readonly #onBusy = (isBusy: boolean): void => {
    // A finished stream has nothing to wait for.
    if (this.#isEnded || this.#controller === undefined) return;
    this.#pauses ??= new StreamPauses(this.#controller);
    this.#pauses.setBusy(isBusy);
  };

  /** A message on the response stream, or one for this request that arrived another way. */
  accept(message: JSONRPCMessage): void {
    const { pendingRequest, deliver } = this.#options;
    if (!('method' in message)) {
      if (message.id !== pendingRequest.id || pendingRequest.isSettled)
        return this.#options.ignored.note('unasked');
      pendingRequest.answer(message);
      this.#finish();
      return this.#endStream();
    }
    const { method, params } = message;
    if (
      method === 'notifications/progress' &&
      isProgress(params) &&
      params.progressToken === pendingRequest.id
    ) {
      pendingRequest.progress(params);
    } else if (isServerRequest(message)) this.#options.answer(message, pendingRequest);
    else deliver(message, pendingRequest);
  }

  /** After its response, wherever that came, a server ends the stream. One that does not would keep the socket. */
  #endStream(): void {
    if (this.#isEnded) return;
    this.#timer = setTimeout(
      () => this.#controller?.abort(new Error('The connection stayed open after the response was complete')),
      STREAM_END_MS,
    ).unref();
  }

  #onEnd(): void {
    this.#isEnded = true;
    clearTimeout(this.#timer);
    if (this.#done) return;
    const { pendingRequest, server } = this.#options;
    const { status, headers } = this.#head ?? { status: 0, headers: {} };
    if (status >= 300 && status < 400 && this.#followRedirect(headers.location)) return;
    const elsewhere = crossOriginRedirect(server, status, {
      url: this.#options.endpoint.url,
      location: textOf(headers.location),
    });
    if (elsewhere !== undefined) return this.#fail(elsewhere);
    if (pendingRequest.id === 0 || status === 202)
      return this.#fail(noAnswerError(server, `HTTP ${status} without a response`));
    if (this.#events !== undefined)
      return this.#reader.whenIdle(() => {
        if (!this.#done) this.#onStreamEnd();
      });
    const text = this.#buffer.take().toString('utf8');
    if (status !== 200) return this.#onRefused(text);
    // The message itself, or one of a batch (2025-03-26 allows it).
    this.#reader.push(text);
    this.#reader.whenIdle(() => {
      if (this.#done) return;
      this.#options.endpoint.replacePool();
      this.#fail(noAnswerError(server, 'the body is not a response to the request'));
    });
  }

  #followRedirect(location: string | string[] | undefined): boolean {
    const { url } = this.#options.endpoint;
    if (typeof location !== 'string' || this.#redirects >= MAX_REDIRECTS || !URL.canParse(location, url.href))
      return false;
    const target = new URL(location, url);
    // Credentials never leave the origin they were configured for.
    if (target.origin !== url.origin || (this.#head?.status !== 307 && this.#head?.status !== 308))
      return false;
    this.#redirects += 1;
    this.#url = target;
    this.#dispatch('POST');
    return true;
  }

  #onRefused(text: string): void {
    const { authorizer } = this.#options.endpoint;
    const { status, headers } = this.#head ?? { status: 0, headers: {} };
    if (authorizer === undefined || (status !== 401 && status !== 403)) return this.#failRefused(text);
    const challenge = textOf(headers['www-authenticate']);
    const retries = this.#refusals;
    this.#refusals += 1;
    this.#awaitsCredentials = true;
    authorizer.handleRefusal({ status, challenge, credentials: this.#credentials, retries }).then(
      (again) => {
        if (this.#done) return;
        if (again) this.#dispatch(this.#method);
        else this.#failRefused(text);
      },
      (error: unknown) => this.#unauthorized(error),
    );
  }

  /** No valid credential. A call that needs more scope leaves the connection open. */
  #unauthorized(thrown: unknown): void {
    if (this.#done) return;
    const error = toTurnbuckleError(thrown);
    const { server } = this.#options;
    this.#fail(this.#isUnsent ? error : connectionLost(server, { sent: true, cause: error }));
    if (error.code === 'AUTH_REQUIRED') this.#options.onBroken(error);
  }

  #failRefused(text: string): void {
    const { server, hasSession, pendingRequest, onBroken } = this.#options;
    const { status, headers } = this.#head ?? { status: 0, headers: {} };
    const { error, broken } = fromHttpError({
      server,
      status,
      headers,
      text,
      hasSession,
      requestId: pendingRequest.id,
    });
    // First this request, then the connection: its end would settle the request as possibly executed.
    this.#fail(error);
    if (broken) onBroken(error);
  }

  #onStreamEnd(cause?: unknown): void {
    const { server, resumable } = this.#options;
    const canResume = resumable && this.#lastEventId !== undefined && this.#resumes < MAX_RESUMES;
    if (!canResume)
      return this.#fail(connectionLost(server, { sent: true, cause, detail: 'the stream ended' }));
    this.#resumes += 1;
    this.#timer = setTimeout(() => this.#dispatch('GET'), this.#retryMs);
  }

  #onError(cause: Error): void {
    if (this.#done) return;
    if (this.#events !== undefined && this.#lastEventId !== undefined) return this.#onStreamEnd(cause);
    const isInvalid = errorCode(cause) === 'UND_ERR_INVALID_ARG';
    const sent = !isInvalid && !isConnectFailure(cause);
    const error = connectionLost(this.#options.server, { sent, cause, detail: cause.message });
    this.#fail(error);
    // A request that could not be written says nothing about the connection.
    if (!isInvalid) this.#options.onBroken(error);
  }

  #fail(error: TurnbuckleError): void {
    this.#options.pendingRequest.fail(error);
    this.#finish();
  }

  #finish(): void {
    if (this.#done) return;
    this.#done = true;
    clearTimeout(this.#timer);
    this.#pauses?.end();
    this.#options.onDone();
  }
}

const isServerRequest = (message: JSONRPCMessage): message is ServerRequest =>
  'method' in message && 'id' in message;

/** A header cannot contain these; an id with one of them cannot be resumed at. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it looks for.
const CONTROL_CHARACTER = /[\x00-\x1f\x7f]/;

/** A header carries bytes: text outside of ASCII is sent as UTF-8. */
const toHeaderText = (text = ''): string => Buffer.from(text).toString('latin1');
