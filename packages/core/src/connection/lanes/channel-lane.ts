/**
 * The express lane over a message channel (stdio, WebSocket, SSE, in-process). It sits between the SDK's client and
 * the transport: it consumes the responses to its own ids and passes everything else on.
 */
import type { JSONRPCMessage, Transport, TransportSendOptions } from '@modelcontextprotocol/client';
import { TurnbuckleError } from '../../errors.js';
import { HandshakeGuard } from '../handshake/handshake-limits.js';
import type { IgnoredMessages, IgnoredReason } from '../protocol/ignored-messages.js';
import type { MessageEdges } from '../protocol/message-edges.js';
import type { NotificationGate } from '../server-requests/notification-gate.js';
import {
  completeParams,
  type Envelope,
  type Lane,
  type LaneRequest,
  type LaneResult,
  type Progress,
} from './lane.js';
import { type AbandonReason, PendingRequest } from './pending-request.js';
import { PendingRequests } from './pending-requests.js';
import { serializeRequest } from './serialize-request.js';
import { connectionLost, messageHandlingError, tooManyPending, toRpcError } from './server-error.js';

/** Its own id range, far from the SDK's small numbers, but within 32 bits for servers that require that. */
export const FIRST_ID = 1_000_000_000;
export const LAST_ID = 2_000_000_000;

/** What a channel may provide beyond the SDK's transport interface. */
export interface Channel extends Transport {
  onoversized?: (edges: MessageEdges, bytes: number) => void;
  /** Called for data that is not a usable message. */
  onignored?: (reason: IgnoredReason) => void;
  /** Whether a request with this id is pending. */
  isawaited?: (id: string | number) => boolean;
  /** Sends the text of a message, if the channel is one of ours. Undefined: it is on its way. */
  sendText?: (text: string, id?: unknown) => Promise<void> | undefined;
  /** Withdraws a request that has not been sent yet; true if it will not be sent. */
  withdraw?: (id: unknown) => boolean;
  /** These requests were certainly never sent. */
  onunsent?: (ids: readonly unknown[]) => void;
}

export interface ChannelLaneOptions {
  readonly server: string;
  readonly maxBytes: number;
  readonly gate: NotificationGate;
  readonly ignored: IgnoredMessages;
  /** Called if handling a message fails because of a bug in Turnbuckle: only this connection ends. */
  readonly onDefect: (error: TurnbuckleError) => void;
}

export class ChannelLane implements Lane, Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: NonNullable<Transport['onmessage']>;
  /** Set by the link once the modern revision is negotiated. */
  envelope: Envelope | undefined;
  // The SDK treats a transport with these members as a channel whose silence means "an older server".
  readonly stderr = undefined;
  readonly pid = undefined;
  readonly #channel: Channel;
  readonly #options: ChannelLaneOptions;
  readonly #pending = new PendingRequests<PendingRequest>(FIRST_ID, LAST_ID);
  readonly #handshakes: HandshakeGuard;
  #openServerRequests = 0;
  #closed = false;

  constructor(channel: Channel, options: ChannelLaneOptions) {
    this.#channel = channel;
    this.#options = options;
    this.#handshakes = new HandshakeGuard(options.server, this);
    channel.onmessage = this.#guarded((message: JSONRPCMessage) => this.#onMessage(message));
    channel.onignored = (reason) => options.ignored.note(reason);
    // Ids of other senders are unknown here.
    channel.isawaited = (id) =>
      typeof id === 'number' && id >= FIRST_ID ? this.#pending.get(id) !== undefined : true;
    channel.onclose = () => this.#onClose();
    channel.onerror = (error) => this.onerror?.(error);
    channel.onoversized = this.#guarded((edges: MessageEdges, bytes: number) =>
      this.#onOversized(edges, bytes),
    );
    channel.onunsent = (ids) => this.#onUnsent(ids);
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
    this.#handshakes.onSend(message);
    // A request that the server never gets need not be cancelled.
    if (isCancelNotification(message) && this.#channel.withdraw?.(message.params?.requestId) === true)
      return Promise.resolve();
    return this.#channel.send(message, options);
  }

  close(): Promise<void> {
    return this.#channel.close();
  }

  request(request: LaneRequest): Promise<LaneResult> {
    if (this.#closed) return Promise.reject(connectionLost(this.#options.server, { sent: false }));
    const { server } = this.#options;
    const id = this.#pending.reserve();
    if (id === undefined) return Promise.reject(tooManyPending(server));
    request.onId?.(id);
    let text: string;
    try {
      text = serializeRequest(server, request, { id, envelope: this.envelope });
    } catch (error) {
      this.#pending.release(id);
      return Promise.reject(error);
    }
    const flight = new PendingRequest({
      id,
      server,
      request,
      hasOpenServerRequest: this.#hasOpenServerRequest,
      onAbandon: this.#onAbandon,
    });
    if (flight.isSettled) {
      this.#pending.release(id);
      return flight.promise;
    }
    this.#pending.put(id, flight);
    const sending =
      this.#channel.sendText === undefined
        ? this.#sendMessage(request, id)
        : this.#channel.sendText(text, id);
    if (sending !== undefined) this.#watchSending(sending, flight);
    return flight.promise;
  }

  #watchSending(sending: Promise<void>, flight: PendingRequest): void {
    sending.catch((cause: unknown) => {
      this.#pending.delete(flight.id);
      // Nothing was lost with the connection; any other failure, such as a missing sign-in, is more specific.
      const known = cause instanceof TurnbuckleError && cause.code !== 'CONNECTION_LOST';
      flight.fail(known ? cause : connectionLost(this.#options.server, { sent: false, cause }));
    });
  }

  /** To a channel of the SDK, which serializes messages itself. */
  #sendMessage(request: LaneRequest, id: number): Promise<void> {
    const params = completeParams(request, this.envelope, id);
    return this.#channel.send({ jsonrpc: '2.0', id, method: request.method, params });
  }

  /** The server has a pending request: until it is answered, no timeout runs. */
  async pauseTimeoutsDuring<Result>(answering: Promise<Result>): Promise<Result> {
    this.#openServerRequests += 1;
    try {
      return await answering;
    } finally {
      this.#openServerRequests -= 1;
      for (const flight of this.#pending.values()) flight.noteActivity();
    }
  }

  readonly #hasOpenServerRequest = (): boolean => this.#openServerRequests > 0;

  #onMessage(message: JSONRPCMessage): void {
    if (!('method' in message)) {
      const { id } = message;
      // The SDK would treat "2" as 2; no request here has the id "2".
      if (typeof id === 'string' && /^\d+$/.test(id)) return this.#options.ignored.note('unasked');
      if (typeof id !== 'number' || id < FIRST_ID) return this.onmessage?.(this.#handshakes.limit(message));
      const flight = this.#pending.get(id);
      // A duplicate response, or one that comes too late.
      if (flight === undefined) return this.#options.ignored.note('unasked');
      this.#pending.delete(id);
      return flight.answer(message);
    }
    if (message.method === 'notifications/progress' && this.#onProgress(message.params)) return;
    // The gate may deliver it later, from a timer.
    this.#options.gate.passAny(message, this.#forward);
  }

  readonly #forward = this.#guarded((message: JSONRPCMessage) => this.onmessage?.(message));

  /** A failure while handling a message ends at most this connection. */
  #guarded<Args extends unknown[]>(work: (...args: Args) => void): (...args: Args) => void {
    return (...args) => {
      try {
        work(...args);
      } catch (cause) {
        this.#options.onDefect(messageHandlingError(this.#options.server, cause));
        void this.close().catch(() => {});
      }
    };
  }

  #onProgress(params: unknown): boolean {
    if (!isProgress(params) || typeof params.progressToken !== 'number' || params.progressToken < FIRST_ID)
      return false;
    this.#pending.get(params.progressToken)?.progress(params);
    return true;
  }

  readonly #onAbandon = (flight: PendingRequest, why: AbandonReason): void => {
    this.#pending.delete(flight.id);
    const params = {
      requestId: flight.id,
      reason: why === 'timeout' ? 'The request timed out' : 'The caller cancelled',
    };
    this.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params }).catch(() => {});
  };

  /** The id at either end of an oversized message tells whose response it was; otherwise all pending requests fail. */
  #onOversized(edges: MessageEdges, bytes: number): void {
    const { server, maxBytes } = this.#options;
    const error = new TurnbuckleError(
      'RESPONSE_TOO_LARGE',
      `The response from server "${server}" has ${bytes} bytes; the limit is ${maxBytes}.`,
      {
        server,
        hint: 'Request less data from the tool (a page, a range), or increase limits.maxMessageBytes.',
      },
    );
    const { id, hasMethod } = edges;
    if (hasMethod) return this.#options.ignored.note('too-large');
    // Not a request of the lane: its sender gets an error response, and the others continue.
    if (id !== undefined && (typeof id === 'string' || id < FIRST_ID))
      return this.onmessage?.({ jsonrpc: '2.0', id, error: toRpcError(error) });
    const only = this.#pending.size === 1 ? this.#pending.values()[0] : undefined;
    const flight = id === undefined ? only : this.#pending.get(id);
    if (flight === undefined && id !== undefined) return this.#options.ignored.note('too-large');
    if (flight === undefined) return void this.close();
    this.#pending.delete(flight.id);
    flight.fail(error);
  }

  #onUnsent(ids: readonly unknown[]): void {
    for (const id of ids) {
      const flight = typeof id === 'number' ? this.#pending.get(id) : undefined;
      if (flight === undefined) continue;
      this.#pending.delete(flight.id);
      flight.fail(connectionLost(this.#options.server, { sent: false }));
    }
  }

  #onClose(): void {
    this.#closed = true;
    for (const flight of this.#pending.values()) {
      this.#pending.delete(flight.id);
      flight.fail(connectionLost(this.#options.server, { sent: true }));
    }
    this.#options.gate.stop();
    this.onclose?.();
  }
}

const isCancelNotification = (
  message: JSONRPCMessage,
): message is JSONRPCMessage & { readonly params?: { readonly requestId?: unknown } } =>
  'method' in message && message.method === 'notifications/cancelled';

export function isProgress(params: unknown): params is Progress & { readonly progressToken: unknown } {
  return (
    typeof params === 'object' &&
    params !== null &&
    'progressToken' in params &&
    'progress' in params &&
    // 1e999 is parsed as Infinity, which JSON cannot represent.
    Number.isFinite(params.progress)
  );
}
