/**
 * The express lane over a message channel (stdio, WebSocket, SSE, in-process). It stands between the
 * SDK's client and the transport: answers to its own ids are taken out, everything else passes.
 */
import type { JSONRPCMessage, Transport, TransportSendOptions } from '@modelcontextprotocol/client';
import { TurnbuckleError } from '../errors.js';
import { type Abandoned, Flight } from './flight.js';
import { Handshakes } from './handshake.js';
import type { IgnoredMessages, IgnoredReason } from './ignored-messages.js';
import {
  completeParams,
  type Envelope,
  type Lane,
  type LaneRequest,
  type LaneResult,
  type Progress,
} from './lane.js';
import type { MessageEdges } from './message-edges.js';
import type { NotificationGate } from './notification-gate.js';
import { requestText } from './request-text.js';
import { connectionLost, messageDefect, toAnswer } from './server-error.js';
import { Slots } from './slots.js';

/** Own id space, far from the SDK's small numbers, yet a 32-bit integer for servers that want one. */
export const FIRST_ID = 1_000_000_000;
export const LAST_ID = 2_000_000_000;

/** What a channel may tell beyond the SDK's transport interface. */
export interface Channel extends Transport {
  onoversized?: (edges: MessageEdges, bytes: number) => void;
  /** Something came that is no message, or none that can be used. */
  onignored?: (reason: IgnoredReason) => void;
  /** Does somebody wait for the answer to this request? */
  isawaited?: (id: string | number) => boolean;
  /** Sends the text of a message, where the channel is one of ours. */
  sendText?: (text: string, id?: unknown) => Promise<void>;
  /** Takes a request back that has not left yet; true when it will not. */
  withdraw?: (id: unknown) => boolean;
  /** These requests certainly never left. */
  onunsent?: (ids: readonly unknown[]) => void;
}

export interface ChannelLaneOptions {
  readonly server: string;
  readonly maxBytes: number;
  readonly gate: NotificationGate;
  readonly ignored: IgnoredMessages;
  /** A message could not be handled, by a defect of ours: the connection ends, and nothing else. */
  readonly onDefect: (error: TurnbuckleError) => void;
}

export class ChannelLane implements Lane, Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: NonNullable<Transport['onmessage']>;
  /** Set by the link once the modern revision is negotiated. */
  envelope: Envelope | undefined;
  // The SDK takes a transport with these members for a channel whose silence means "an older server".
  readonly stderr = undefined;
  readonly pid = undefined;
  readonly #channel: Channel;
  readonly #options: ChannelLaneOptions;
  readonly #flights = new Slots<Flight>(FIRST_ID, LAST_ID);
  readonly #handshakes: Handshakes;
  #questions = 0;
  #closed = false;

  constructor(channel: Channel, options: ChannelLaneOptions) {
    this.#channel = channel;
    this.#options = options;
    this.#handshakes = new Handshakes(options.server, this);
    channel.onmessage = this.#guarded((message: JSONRPCMessage) => this.#receive(message));
    channel.onignored = (reason) => options.ignored.note(reason);
    // The ids of others are not known here.
    channel.isawaited = (id) =>
      typeof id === 'number' && id >= FIRST_ID ? this.#flights.get(id) !== undefined : true;
    channel.onclose = () => this.#end();
    channel.onerror = (error) => this.onerror?.(error);
    channel.onoversized = this.#guarded((edges: MessageEdges, bytes: number) =>
      this.#oversized(edges, bytes),
    );
    channel.onunsent = (ids) => this.#unsent(ids);
  }

  get sessionId(): string | undefined {
    return this.#channel.sessionId;
  }

  setProtocolVersion(version: string): void {
    this.#channel.setProtocolVersion?.(version);
  }

  start(): Promise<void> {
    return this.#channel.start();
  }

  send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    this.#handshakes.sent(message);
    // What the server never gets, it need not be told to leave.
    if (isCancelling(message) && this.#channel.withdraw?.(message.params?.requestId) === true)
      return Promise.resolve();
    return this.#channel.send(message, options);
  }

  close(): Promise<void> {
    return this.#channel.close();
  }

  request(request: LaneRequest): Promise<LaneResult> {
    if (this.#closed) return Promise.reject(connectionLost(this.#options.server, { sent: false }));
    const { server } = this.#options;
    const id = this.#flights.reserve();
    const params = completeParams(request, this.envelope, id);
    const message: JSONRPCMessage = { jsonrpc: '2.0', id, method: request.method, params };
    let text: string;
    try {
      text = requestText(server, message);
    } catch (error) {
      this.#flights.release(id);
      return Promise.reject(error);
    }
    const flight = new Flight({
      id,
      server,
      request,
      isAsking: this.#isAsking,
      onAbandon: this.#onAbandon,
    });
    this.#flights.put(id, flight);
    const sending = this.#channel.sendText?.(text, id) ?? this.#channel.send(message);
    sending.catch((cause: unknown) => {
      this.#flights.delete(id);
      // A lost connection took nothing with it; any other failure of ours, such as a missing sign-in, says more.
      const known = cause instanceof TurnbuckleError && cause.code !== 'CONNECTION_LOST';
      flight.fail(known ? cause : connectionLost(this.#options.server, { sent: false, cause }));
    });
    return flight.promise;
  }

  /** The server asks something: until it is answered, nobody's patience runs out. */
  async whileAsking<Result>(answering: Promise<Result>): Promise<Result> {
    this.#questions += 1;
    try {
      return await answering;
    } finally {
      this.#questions -= 1;
      for (const flight of this.#flights.values()) flight.touch();
    }
  }

  readonly #isAsking = (): boolean => this.#questions > 0;

  #receive(message: JSONRPCMessage): void {
    if (!('method' in message)) {
      const { id } = message;
      // The SDK would take "2" for 2; nobody here ever asked as "2".
      if (typeof id === 'string' && /^\d+$/.test(id)) return this.#options.ignored.note('unasked');
      if (typeof id !== 'number' || id < FIRST_ID) return this.onmessage?.(this.#handshakes.bounded(message));
      const flight = this.#flights.get(id);
      // A second answer, or one that comes too late.
      if (flight === undefined) return this.#options.ignored.note('unasked');
      this.#flights.delete(id);
      return flight.answer(message);
    }
    if (message.method === 'notifications/progress' && this.#progress(message.params)) return;
    // The gate may hand it on later, from a timer of its own.
    this.#options.gate.passAny(message, this.#passOn);
  }

  readonly #passOn = this.#guarded((message: JSONRPCMessage) => this.onmessage?.(message));

  /** Whatever goes wrong over a message is the end of this connection at most. */
  #guarded<Args extends unknown[]>(work: (...args: Args) => void): (...args: Args) => void {
    return (...args) => {
      try {
        work(...args);
      } catch (cause) {
        this.#options.onDefect(messageDefect(this.#options.server, cause));
        void this.close().catch(() => {});
      }
    };
  }

  #progress(params: unknown): boolean {
    if (!isProgress(params) || typeof params.progressToken !== 'number' || params.progressToken < FIRST_ID)
      return false;
    this.#flights.get(params.progressToken)?.progress(params);
    return true;
  }

  readonly #onAbandon = (flight: Flight, why: Abandoned): void => {
    this.#flights.delete(flight.id);
    const params = {
      requestId: flight.id,
      reason: why === 'timeout' ? 'The request timed out' : 'The caller cancelled',
    };
    this.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params }).catch(() => {});
  };

  /** Whose answer was too large is told by the id at either end of it; else nobody can wait any longer. */
  #oversized(edges: MessageEdges, bytes: number): void {
    const { server, maxBytes } = this.#options;
    const error = new TurnbuckleError(
      'RESPONSE_TOO_LARGE',
      `Server "${server}" answered with ${bytes} bytes; the limit is ${maxBytes}.`,
      {
        server,
        hint: 'Ask the tool for less (a page, a range), or raise limits.maxMessageBytes.',
      },
    );
    const { id, hasMethod } = edges;
    if (hasMethod) return this.#options.ignored.note('too-large');
    // Not one of the lane's: who asked gets an answer that says so, and the others go on.
    if (id !== undefined && (typeof id === 'string' || id < FIRST_ID))
      return this.onmessage?.({ jsonrpc: '2.0', id, error: toAnswer(error) });
    const only = this.#flights.size === 1 ? this.#flights.values()[0] : undefined;
    const flight = id === undefined ? only : this.#flights.get(id);
    if (flight === undefined && id !== undefined) return this.#options.ignored.note('too-large');
    if (flight === undefined) return void this.close();
    this.#flights.delete(flight.id);
    flight.fail(error);
  }

  #unsent(ids: readonly unknown[]): void {
    for (const id of ids) {
      const flight = typeof id === 'number' ? this.#flights.get(id) : undefined;
      if (flight === undefined) continue;
      this.#flights.delete(flight.id);
      flight.fail(connectionLost(this.#options.server, { sent: false }));
    }
  }

  #end(): void {
    this.#closed = true;
    for (const flight of this.#flights.values()) {
      this.#flights.delete(flight.id);
      flight.fail(connectionLost(this.#options.server, { sent: true }));
    }
    this.#options.gate.stop();
    this.onclose?.();
  }
}

const isCancelling = (
  message: JSONRPCMessage,
): message is JSONRPCMessage & { readonly params?: { readonly requestId?: unknown } } =>
  'method' in message && message.method === 'notifications/cancelled';

export function isProgress(params: unknown): params is Progress & { readonly progressToken: unknown } {
  return (
    typeof params === 'object' &&
    params !== null &&
    'progressToken' in params &&
    'progress' in params &&
    // 1e999 is read as Infinity, which no JSON can say.
    Number.isFinite(params.progress)
  );
}
