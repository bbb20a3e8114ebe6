/** One POST and its answer: a JSON body, an event stream, a redirect inside the origin, or a refusal. */
import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import type { Dispatcher } from 'undici';
import type { Credentials } from '../auth/authorizer.js';
import { TurnbuckleError, toTurnbuckleError } from '../errors.js';
import { GrowingBuffer } from '../fetching/growing-buffer.js';
import { spendTurn } from '../json/slices.js';
import { timerDelay } from '../resilience/timer-delay.js';
import { isProgress } from './channel-lane.js';
import { EventLines } from './event-lines.js';
import { EventReader } from './event-reader.js';
import type { Flight } from './flight.js';
import { Pauses, weigh } from './flood-meter.js';
import { type HttpEndpoint, REFUSAL_BYTES, tooLarge } from './http-endpoint.js';
import { redirectedAway, refusal } from './http-refusal.js';
import type { IgnoredMessages, IgnoredReason } from './ignored-messages.js';
import type { MessageRules, ServerQuestion } from './message.js';
import { MessageReader } from './message-reader.js';
import { connectionLost, messageDefect } from './server-error.js';

const MAX_REDIRECTS = 3;
const MAX_RESUMES = 5;
/** Also the least that a server can ask for: it may end each stream at once. */
const RESUME_DEFAULT_MS = 1_000;
const RESUME_MAX_MS = 30_000;

export interface ExchangeOptions {
  readonly server: string;
  readonly endpoint: HttpEndpoint;
  readonly flight: Flight;
  readonly maxBytes: number;
  readonly rules: MessageRules;
  readonly ignored: IgnoredMessages;
  readonly headers: Record<string, string>;
  /** The older revisions let a broken stream be picked up at its last event. */
  readonly resumable: boolean;
  readonly hasSession: boolean;
  readonly deliver: (message: JSONRPCMessage, flight: Flight) => void;
  readonly answer: (question: ServerQuestion, flight: Flight) => void;
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
  #pauses: Pauses | undefined;
  #body: string | undefined;
  #path: string;
  #head: Head | undefined;
  #held: GrowingBuffer | EventLines = new GrowingBuffer();
  #events: EventReader | undefined;
  #lastEventId: string | undefined;
  #retryMs = RESUME_DEFAULT_MS;
  #redirects = 0;
  #resumes = 0;
  #timer: NodeJS.Timeout | undefined;
  #credentials: Credentials = {};
  #refusals = 0;
  #method: 'POST' | 'GET' = 'POST';
  /** Until there is a credential nothing is with the server: not sent yet, or refused. */
  #isHeld = false;
  #done = false;
  #isEnded = false;
  readonly #reader: MessageReader;

  constructor(options: ExchangeOptions) {
    this.#options = options;
    this.#reader = new MessageReader(options.rules, this, { onBusy: this.#onBusy });
    this.#path = options.endpoint.url.pathname + options.endpoint.url.search;
  }

  post(body: string): void {
    this.#body = body;
    this.#dispatch('POST');
  }

  /** Settles with the answer, or as the request fails. */
  get settled(): Promise<unknown> {
    return this.#options.flight.promise;
  }

  /** A request that waits for a credential fails with the refusal that another one met. */
  giveUp(refusal: TurnbuckleError): void {
    if (this.#isUnsent && !this.#done) this.#fail(refusal);
  }

  /** Stops reading; with an error the request fails with it, without one somebody already settled it. */
  abort(error?: TurnbuckleError): void {
    this.#finish();
    const { server, flight } = this.#options;
    if (error !== undefined) flight.fail(this.#isUnsent ? connectionLost(server, { sent: false }) : error);
    this.#controller?.abort(new Error('The request was abandoned'));
  }

  /** A stream that is resumed belongs to a request that was taken. */
  get #isUnsent(): boolean {
    return this.#isHeld && this.#method === 'POST';
  }

  #dispatch(method: 'POST' | 'GET'): void {
    const { endpoint } = this.#options;
    this.#method = method;
    this.#isHeld = true;
    const credentials = endpoint.authorizer?.headers({ method, url: new URL(this.#path, endpoint.url) });
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
    this.#isHeld = false;
    this.#isEnded = false;
    const resumed = method === 'GET' && this.#lastEventId !== undefined;
    this.#head = undefined;
    this.#held = new GrowingBuffer();
    this.#events = undefined;
    this.#pauses = undefined;
    endpoint.dispatch(
      {
        path: this.#path,
        method,
        headers: resumed
          ? { ...headers, accept: 'text/event-stream', 'last-event-id': this.#lastEventId ?? '' }
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
    endpoint.authorizer?.observe?.(endpoint.url, (name) => textOf(head.headers[name]));
    if (head.status !== 200 || !String(head.headers['content-type']).includes('text/event-stream')) return;
    this.#held = new EventLines();
    this.#events = new EventReader({
      onEvent: (event) => {
        if (event.id !== undefined) this.#lastEventId = event.id;
        if (event.data !== '' && (event.event === undefined || event.event === 'message'))
          this.#reader.push(event.data);
      },
      onRetry: (ms) => {
        this.#retryMs = timerDelay(ms, { minMs: RESUME_DEFAULT_MS, maxMs: RESUME_MAX_MS });
      },
    });
  }

  #onData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    const { maxBytes, server } = this.#options;
    const max = this.#head?.status === 200 ? maxBytes : REFUSAL_BYTES;
    const lines = this.#held.push(chunk);
    if (this.#held.length > max) {
      this.#fail(tooLarge({ server, maxBytes: max }));
      controller.abort(new Error('The answer is too large'));
    } else if (lines !== undefined && this.#events !== undefined) {
      const events = this.#events;
      const isTurnSpent = spendTurn(() => events.read(lines));
      // A large message is known for the answer only when it has been read.
      this.#reader.whenIdle(() => {
        if (this.#done || this.#isEnded) return;
        const pauseMs = this.#options.endpoint.flood.take(weigh(lines));
        this.#pause(controller, isTurnSpent ? Math.max(pauseMs, 1) : pauseMs);
      });
    }
  }

  #pause(controller: Dispatcher.DispatchController, ms: number): void {
    if (ms <= 0) return;
    this.#pauses ??= new Pauses(controller);
    this.#pauses.hold(ms);
  }

  /** A defect over a message fails this request, and nothing else. */
  readonly onmessage = (message: JSONRPCMessage): void => {
    try {
      this.accept(message);
    } catch (cause) {
      this.#fail(messageDefect(this.#options.server, cause));
    }
  };

  readonly onignored = (reason: IgnoredReason): void => this.#options.ignored.note(reason);

  readonly isawaited = (id: string | number): boolean => !this.#done && id === this.#options.flight.id;

  readonly #onBusy = (isBusy: boolean): void => {
    // What has come to its end has nothing to wait for.
    if (this.#isEnded || this.#controller === undefined) return;
    this.#pauses ??= new Pauses(this.#controller);
    this.#pauses.wait(isBusy);
  };

  /** A message on the answer's stream, or one for this request that came another way. */
  accept(message: JSONRPCMessage): void {
    const { flight, deliver } = this.#options;
    if (!('method' in message)) {
      if (message.id !== flight.id || flight.settled) return this.#options.ignored.note('unasked');
      flight.answer(message);
      return this.#finish();
    }
    const { method, params } = message;
    if (method === 'notifications/progress' && isProgress(params) && params.progressToken === flight.id) {
      flight.progress(params);
    } else if (isQuestion(message)) this.#options.answer(message, flight);
    else deliver(message, flight);
  }

  #onEnd(): void {
    this.#isEnded = true;
    if (this.#done) return;
    const { flight, server } = this.#options;
    const { status, headers } = this.#head ?? { status: 0, headers: {} };
    if (status >= 300 && status < 400 && this.#follow(headers.location)) return;
    const elsewhere = redirectedAway(server, status, {
      url: this.#options.endpoint.url,
      location: textOf(headers.location),
    });
    if (elsewhere !== undefined) return this.#fail(elsewhere);
    if (flight.id === 0 || status === 202)
      return this.#fail(noAnswer(server, `HTTP ${status} without an answer`));
    if (this.#events !== undefined)
      return this.#reader.whenIdle(() => {
        if (!this.#done) this.#streamEnded();
      });
    const text = this.#held.take().toString('utf8');
    if (status !== 200) return this.#refused(text);
    // The message itself, or one of a batch (2025-03-26 allows it).
    this.#reader.push(text);
    this.#reader.whenIdle(() => {
      if (this.#done) return;
      this.#options.endpoint.renew();
      this.#fail(noAnswer(server, 'the body is not an answer to the request'));
    });
  }

  #follow(location: string | string[] | undefined): boolean {
    const { url } = this.#options.endpoint;
    if (typeof location !== 'string' || this.#redirects >= MAX_REDIRECTS || !URL.canParse(location, url.href))
      return false;
    const target = new URL(location, url);
    // Credentials never leave the origin they were configured for.
    if (target.origin !== url.origin || (this.#head?.status !== 307 && this.#head?.status !== 308))
      return false;
    this.#redirects += 1;
    this.#path = target.pathname + target.search;
    this.#dispatch('POST');
    return true;
  }

  #refused(text: string): void {
    const { authorizer } = this.#options.endpoint;
    const { status, headers } = this.#head ?? { status: 0, headers: {} };
    if (authorizer === undefined || (status !== 401 && status !== 403)) return this.#failRefused(text);
    const challenge = textOf(headers['www-authenticate']);
    const round = this.#refusals;
    this.#refusals += 1;
    this.#isHeld = true;
    authorizer.refused({ status, challenge, credentials: this.#credentials, round }).then(
      (again) => {
        if (this.#done) return;
        if (again) this.#dispatch(this.#method);
        else this.#failRefused(text);
      },
      (error: unknown) => this.#unauthorized(error),
    );
  }

  /** No credential, or none that does. A call that needs a wider one leaves the connection as it is. */
  #unauthorized(thrown: unknown): void {
    if (this.#done) return;
    const error = toTurnbuckleError(thrown);
    const { server } = this.#options;
    this.#fail(this.#isUnsent ? error : connectionLost(server, { sent: true, cause: error }));
    if (error.code === 'AUTH_REQUIRED') this.#options.onBroken(error);
  }

  #failRefused(text: string): void {
    const { server, hasSession, flight, onBroken } = this.#options;
    const { status, headers } = this.#head ?? { status: 0, headers: {} };
    const { error, broken } = refusal({ server, status, headers, text, hasSession, requestId: flight.id });
    // First this request, then the connection: its end would settle the request as one that may have happened.
    this.#fail(error);
    if (broken) onBroken(error);
  }

  #streamEnded(cause?: unknown): void {
    const { server, resumable } = this.#options;
    const canResume = resumable && this.#lastEventId !== undefined && this.#resumes < MAX_RESUMES;
    if (!canResume)
      return this.#fail(connectionLost(server, { sent: true, cause, detail: 'the stream ended' }));
    this.#resumes += 1;
    this.#timer = setTimeout(() => this.#dispatch('GET'), this.#retryMs);
  }

  #onError(cause: Error): void {
    if (this.#done) return;
    if (this.#events !== undefined && this.#lastEventId !== undefined) return this.#streamEnded(cause);
    const sent = !isConnectFailure(cause);
    const error = connectionLost(this.#options.server, { sent, cause, detail: cause.message });
    this.#fail(error);
    this.#options.onBroken(error);
  }

  #fail(error: TurnbuckleError): void {
    this.#options.flight.fail(error);
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

const isQuestion = (message: JSONRPCMessage): message is ServerQuestion =>
  'method' in message && 'id' in message;

const textOf = (header: string | string[] | undefined): string | undefined =>
  Array.isArray(header) ? header.join(', ') : header;

function noAnswer(server: string, detail: string): TurnbuckleError {
  return new TurnbuckleError('PROTOCOL_VIOLATION', `Server "${server}" broke the protocol: ${detail}.`, {
    server,
  });
}

/** No connection was made, so nothing was sent. */
function isConnectFailure(error: Error): boolean {
  const code = 'code' in error ? String(error.code) : '';
  return [
    'ECONNREFUSED',
    'ENOTFOUND',
    'EAI_AGAIN',
    'EHOSTUNREACH',
    'ENETUNREACH',
    'UND_ERR_CONNECT_TIMEOUT',
  ].includes(code);
}
