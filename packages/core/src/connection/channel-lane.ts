/**
 * The express lane over a message channel (stdio, WebSocket, SSE, in-process). It stands between the
 * SDK's client and the transport: answers to its own ids are taken out, everything else passes.
 */
import type { JSONRPCMessage, Transport, TransportSendOptions } from '@modelcontextprotocol/client';
import { TurnbuckleError } from '../errors.js';
import { type Abandoned, Flight } from './flight.js';
import {
  completeParams,
  type Envelope,
  type Lane,
  type LaneRequest,
  type LaneResult,
  type Progress,
} from './lane.js';
import type { NotificationGate } from './notification-gate.js';
import { connectionLost, toAnswer } from './server-error.js';
import { Slots } from './slots.js';

/** Own id space, far from the SDK's small numbers, yet a 32-bit integer for servers that want one. */
export const FIRST_ID = 1_000_000_000;
export const LAST_ID = 2_000_000_000;

/** What a channel may tell beyond the SDK's transport interface. */
export interface Channel extends Transport {
  onoversized?: (edges: string, bytes: number) => void;
  /** These requests certainly never left. */
  onunsent?: (ids: readonly unknown[]) => void;
}

export interface ChannelLaneOptions {
  readonly server: string;
  readonly maxBytes: number;
  readonly gate: NotificationGate;
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
  #questions = 0;
  #closed = false;

  constructor(channel: Channel, options: ChannelLaneOptions) {
    this.#channel = channel;
    this.#options = options;
    channel.onmessage = (message) => this.#receive(message);
    channel.onclose = () => this.#end();
    channel.onerror = (error) => this.onerror?.(error);
    channel.onoversized = (edges, bytes) => this.#oversized(edges, bytes);
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
    return this.#channel.send(message, options);
  }

  close(): Promise<void> {
    return this.#channel.close();
  }

  request(request: LaneRequest): Promise<LaneResult> {
    if (this.#closed) return Promise.reject(connectionLost(this.#options.server, { sent: false }));
    const { server } = this.#options;
    const id = this.#flights.reserve();
    const flight = new Flight({
      id,
      server,
      request,
      isAsking: this.#isAsking,
      onAbandon: this.#onAbandon,
    });
    this.#flights.put(id, flight);
    const params = completeParams(request, this.envelope, id);
    this.#channel.send({ jsonrpc: '2.0', id, method: request.method, params }).catch((cause: unknown) => {
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
      if (typeof id === 'string' && /^\d+$/.test(id)) return;
      if (typeof id !== 'number' || id < FIRST_ID) return this.onmessage?.(message);
      const flight = this.#flights.get(id);
      this.#flights.delete(id);
      return flight?.answer(message);
    }
    if (message.method === 'notifications/progress' && this.#progress(message.params)) return;
    this.#options.gate.passAny(message, (passed) => this.onmessage?.(passed));
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
    this.#channel.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params }).catch(() => {});
  };

  /** Whose answer was too large is told by the id at either end of it; else nobody can wait any longer. */
  #oversized(edges: string, bytes: number): void {
    const { server, maxBytes } = this.#options;
    const error = new TurnbuckleError(
      'RESPONSE_TOO_LARGE',
      `Server "${server}" answered with ${bytes} bytes; the limit is ${maxBytes}.`,
      {
        server,
        hint: 'Ask the tool for less (a page, a range), or raise limits.maxMessageBytes.',
      },
    );
    const named = /"id"\s*:\s*(\d{1,10})\b/.exec(edges)?.[1];
    const id = named === undefined ? undefined : Number(named);
    // One of the SDK's: it gets an answer that says so, and the others go on.
    if (id !== undefined && id < FIRST_ID)
      return this.onmessage?.({ jsonrpc: '2.0', id, error: toAnswer(error) });
    const only = this.#flights.size === 1 ? this.#flights.values()[0] : undefined;
    const flight = (id === undefined ? undefined : this.#flights.get(id)) ?? only;
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

export function isProgress(params: unknown): params is Progress & { readonly progressToken: unknown } {
  return (
    typeof params === 'object' &&
    params !== null &&
    'progressToken' in params &&
    'progress' in params &&
    typeof params.progress === 'number'
  );
}
