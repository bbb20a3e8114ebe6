/** The WebSocket transport (subprotocol `mcp`): one message a frame. The SDK has none since its version 2. */
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import type { WebSocket } from 'ws';
import type { Authorizer, Credentials } from '../auth/authorizer.js';
import { TurnbuckleError } from '../errors.js';
import { writeJson } from '../json/spelling.js';
import { AwaitedSink } from './awaited-sink.js';
import { type FloodMeter, LINE_BYTES, Pauses, READ_BYTES } from './flood-meter.js';
import { authRequired } from './http-refusal.js';
import type { IgnoredReason } from './ignored-messages.js';
import type { MessageRules } from './message.js';
import { type MessageEdges, NO_EDGES } from './message-edges.js';
import { MessageReader } from './message-reader.js';
import { Outbox, type UnsentLimits } from './outbox.js';

export interface WebSocketOptions {
  readonly server: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly maxBytes: number;
  readonly rules: MessageRules;
  readonly connectTimeoutMs: number;
  /** Weighs what it sends unasked. */
  readonly flood: FloodMeter;
  readonly unsent: UnsentLimits;
  readonly authorizer?: (() => Promise<Authorizer | undefined> | undefined) | undefined;
}

interface Refusal {
  readonly status: number;
  readonly challenge: string | undefined;
}

const MAX_PIECES = 16_384;
const CLOSE_GRACE_MS = 1_000;

export class WebSocketTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  /** A message over the size limit arrived; the socket closes after it. */
  onoversized?: (edges: MessageEdges, bytes: number) => void;
  onignored?: (reason: IgnoredReason) => void;
  isawaited?: (id: string | number) => boolean;
  /** These requests certainly never left. */
  onunsent?: (ids: readonly unknown[]) => void;
  readonly outbox: Outbox;
  readonly #options: WebSocketOptions;
  readonly #sink = new AwaitedSink(this);
  #socket: WebSocket | undefined;
  #closed = false;

  constructor(options: WebSocketOptions) {
    this.#options = options;
    this.outbox = new Outbox({
      server: options.server,
      limits: options.unsent,
      unsent: () => this.#socket?.bufferedAmount ?? 0,
      write: (text, id) => this.#hand(text, id),
    });
  }

  /** Opens the socket with credentials, and again with better ones as long as that makes sense. */
  async start(): Promise<void> {
    const { server, url } = this.#options;
    const authorizer = await this.#options.authorizer?.();
    for (let round = 0; ; round += 1) {
      const credentials = (await authorizer?.headers({ method: 'GET', url: new URL(url) })) ?? {};
      const refused = await this.#open(credentials);
      if (refused === undefined) return;
      const { status, challenge } = refused;
      const unknown = status !== 401 && status !== 403;
      if (unknown || !(await authorizer?.refused({ status, challenge, credentials, round })))
        throw unknown ? this.#refused(status) : authRequired(server, status);
    }
  }

  /** How the server refused; undefined when the socket is open. */
  async #open(credentials: Credentials): Promise<Refusal | undefined> {
    const { WebSocket } = await import('ws');
    const { url, maxBytes, connectTimeoutMs } = this.#options;
    // By the name, not by its spelling: two Authorization headers would both be sent.
    const headers = Object.fromEntries(
      [...Object.entries(this.#options.headers), ...Object.entries(credentials)].map(([name, value]) => [
        name.toLowerCase(),
        value,
      ]),
    );
    const socket = new WebSocket(url, 'mcp', {
      headers,
      handshakeTimeout: connectTimeoutMs,
      maxPayload: maxBytes,
      // Each piece that is held costs more than its bytes: a message in pieces of one would be a hundred times its size.
      maxFragments: MAX_PIECES,
      maxBufferedChunks: MAX_PIECES,
      // Compression is where decompression bombs and malformed window sizes come in.
      perMessageDeflate: false,
      autoPong: false,
      followRedirects: false,
    });
    this.#socket = socket;
    const refused = await new Promise<Refusal | undefined>((resolve, reject) => {
      socket.once('open', () => resolve(undefined));
      socket.once('error', (cause) => reject(this.#connectError(cause)));
      socket.once('unexpected-response', (_request, response) => {
        const { statusCode = 0, headers: answered } = response;
        response.destroy();
        resolve({ status: statusCode, challenge: answered['www-authenticate'] });
        socket.terminate();
      });
    });
    if (refused !== undefined) return refused;
    socket.on('error', (error) => {
      if ('code' in error && error.code === 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH')
        this.onoversized?.(NO_EDGES, maxBytes);
      this.onerror?.(error);
      // What follows cannot be understood any more, and the other side may be slow to admit it.
      socket.terminate();
    });
    const pauses = new Pauses(socket);
    socket.once('close', () => pauses.end());
    const weigh = (bytes: number): void =>
      pauses.hold(this.#options.flood.take(bytes + LINE_BYTES + READ_BYTES / 10));
    answerPings(socket, this.#onWritten);
    socket.on('ping', ({ length }) => weigh(length));
    socket.on('pong', ({ length }) => weigh(length));
    const reader = new MessageReader(this.#options.rules, this.#sink, {
      onBusy: (isBusy) => pauses.wait(isBusy),
      around: (deliver, length) => {
        this.#sink.isAwaited = false;
        deliver();
        if (!this.#sink.isAwaited) weigh(length);
      },
    });
    socket.on('close', () => reader.whenIdle(() => this.#end()));
    socket.on('message', (data, isBinary) => {
      if (!isBinary) return reader.push(String(data));
      // MCP is text.
      this.onignored?.('noise');
      weigh('byteLength' in data ? data.byteLength : 0);
    });
    return undefined;
  }

  async send(message: JSONRPCMessage): Promise<void> {
    return this.#write(writeJson(message), 'method' in message && 'id' in message ? message.id : undefined);
  }

  /** A request, where it has an id, or a notice. */
  sendText(text: string, id?: unknown): Promise<void> {
    return this.#write(text, id);
  }

  withdraw(id: unknown): boolean {
    return this.outbox.withdraw(id);
  }

  #write(text: string, id: unknown): Promise<void> {
    const socket = this.#socket;
    if (socket === undefined || socket.readyState !== socket.OPEN) {
      return Promise.reject(
        new TurnbuckleError('CONNECTION_LOST', `Server "${this.#options.server}" is not connected.`),
      );
    }
    if (!this.outbox.isFree) return this.outbox.add(text, id);
    this.#hand(text, id);
    return Promise.resolve();
  }

  #hand(text: string, id: unknown): void {
    if (id !== undefined) this.#sink.sent();
    this.#socket?.send(text, this.#onWritten);
  }

  /** One function for all: a call makes as few objects as it can. */
  readonly #onWritten = (error?: Error | null): void => {
    if (error == null) this.outbox.moved();
  };

  async close(): Promise<void> {
    const socket = this.#socket;
    this.#end();
    if (socket === undefined || socket.readyState === socket.CLOSED) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(() => socket.terminate(), CLOSE_GRACE_MS);
      socket.once('close', () => {
        clearTimeout(timer);
        resolve();
      });
      socket.close(1000);
    });
  }

  #end(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.onunsent?.(this.outbox.close());
    this.onclose?.();
  }

  #refused(status: number): TurnbuckleError {
    const { server } = this.#options;
    if (status === 401 || status === 403) return authRequired(server, status);
    return new TurnbuckleError(
      'CONNECT_FAILED',
      `Server "${server}" refused the WebSocket with HTTP ${status}.`,
      {
        server,
        hint: 'Check the address; it has to be a WebSocket endpoint that speaks the subprotocol "mcp".',
      },
    );
  }

  #connectError(cause: Error): TurnbuckleError {
    const { server, url } = this.#options;
    return new TurnbuckleError('CONNECT_FAILED', `Server "${server}" could not be reached.`, {
      server,
      cause,
      hint: `Check that it is running and that its address is right: turnbuckle config ${server}`,
      data: { address: new URL(url).origin },
    });
  }
}

/**
 * One answer for all that came at once, to the last of them, as the protocol allows: each is a write of its own. The next
 * one is written when the last has left: who does not read gets no more.
 */
function answerPings(socket: WebSocket, onWritten: (error?: Error | null) => void): void {
  let last: Buffer | undefined;
  let isAnswering = false;
  const written = (error?: Error | null): void => {
    onWritten(error);
    isAnswering = false;
    if (last !== undefined) begin();
  };
  const answer = (): void => {
    const answered = last;
    last = undefined;
    if (socket.readyState === socket.OPEN) socket.pong(answered, undefined, written);
  };
  const begin = (): void => {
    isAnswering = true;
    setImmediate(answer);
  };
  socket.on('ping', (data) => {
    last = data;
    if (!isAnswering) begin();
  });
}
