/** The WebSocket transport (subprotocol `mcp`): one message per frame. The SDK has none since version 2. */
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import type { WebSocket } from 'ws';
import type { Authorizer, Credentials } from '../../auth/authorizer.js';
import { TurnbuckleError } from '../../errors.js';
import { writeJson } from '../../json/lossless-json.js';
import { shellQuote } from '../../text/shell-quote.js';
import { BYTES_PER_LINE, BYTES_PER_READ, type FloodMeter, StreamPauses } from '../protocol/flood-meter.js';
import type { IgnoredReason } from '../protocol/ignored-messages.js';
import type { MessageRules } from '../protocol/message.js';
import { type MessageEdges, NO_EDGES } from '../protocol/message-edges.js';
import { MessageReader } from '../protocol/message-reader.js';
import { AwaitedSink } from './http/awaited-sink.js';
import { authRequired } from './http/http-error.js';
import { Outbox, type UnsentLimits } from './outbox.js';

export interface WebSocketOptions {
  readonly server: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly maxBytes: number;
  readonly rules: MessageRules;
  readonly connectTimeoutMs: number;
  /** Measures its unrequested data. */
  readonly flood: FloodMeter;
  readonly unsent: UnsentLimits;
  readonly authorizer?: (() => Promise<Authorizer | undefined> | undefined) | undefined;
}

interface RejectedUpgrade {
  readonly status: number;
  readonly challenge: string | undefined;
}

const MAX_FRAGMENTS = 16_384;
const CLOSE_GRACE_MS = 1_000;

export class WebSocketTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  /** A message over the size limit arrived; the socket closes after it. */
  onoversized?: (edges: MessageEdges, bytes: number) => void;
  onignored?: (reason: IgnoredReason) => void;
  isawaited?: (id: string | number) => boolean;
  /** These requests were certainly never sent. */
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
      bufferedBytes: () => this.#socket?.bufferedAmount ?? 0,
      write: (text, id) => this.#sendNow(text, id),
    });
  }

  /** Opens the socket with credentials, and again with better ones as long as that makes sense. */
  async start(): Promise<void> {
    const { server, url } = this.#options;
    const authorizer = await this.#options.authorizer?.();
    for (let retries = 0; ; retries += 1) {
      const credentials = (await authorizer?.headers({ method: 'GET', url: new URL(url) })) ?? {};
      const refused = await this.#open(credentials);
      if (refused === undefined) return;
      const { status, challenge } = refused;
      const unknown = status !== 401 && status !== 403;
      if (unknown || !(await authorizer?.handleRefusal({ status, challenge, credentials, retries })))
        throw unknown ? this.#refusedError(status) : authRequired(server, status);
    }
  }

  /** How the server rejected it; undefined if the socket is open. */
  async #open(credentials: Credentials): Promise<RejectedUpgrade | undefined> {
    const { WebSocket } = await import('ws');
    const { url, maxBytes, connectTimeoutMs } = this.#options;
    // By name, ignoring case: two Authorization headers would both be sent.
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
      // Each chunk that is held costs more than its bytes: a message in chunks of one byte would take a hundred times
      // its size.
      maxFragments: MAX_FRAGMENTS,
      maxBufferedChunks: MAX_FRAGMENTS,
      // Compression enables decompression bombs and malformed window sizes.
      perMessageDeflate: false,
      autoPong: false,
      followRedirects: false,
    });
    this.#socket = socket;
    const refused = await new Promise<RejectedUpgrade | undefined>((resolve, reject) => {
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
    this.#receive(socket);
    return undefined;
  }

  #receive(socket: WebSocket): void {
    const { maxBytes } = this.#options;
    socket.on('error', (error) => {
      if ('code' in error && error.code === 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH')
        this.onoversized?.(NO_EDGES, maxBytes);
      this.onerror?.(error);
      // What follows cannot be parsed any more, and the other side may be slow to close.
      socket.terminate();
    });
    const pauses = new StreamPauses(socket);
    socket.once('close', () => pauses.end());
    const weigh = (bytes: number): void =>
      pauses.pauseFor(this.#options.flood.record(bytes + BYTES_PER_LINE + BYTES_PER_READ / 10));
    answerPings(socket, this.#onWritten);
    socket.on('ping', ({ length }) => weigh(length));
    socket.on('pong', ({ length }) => weigh(length));
    const reader = new MessageReader(this.#options.rules, this.#sink, {
      onBusy: (isBusy) => pauses.setBusy(isBusy),
      wrapDelivery: (deliver, length) => {
        this.#sink.sawAwaitedAnswer = false;
        deliver();
        if (!this.#sink.sawAwaitedAnswer) weigh(length);
      },
    });
    socket.on('close', () => reader.whenIdle(() => this.#onEnd()));
    socket.on('message', (data, isBinary) => {
      if (!isBinary) return reader.push(String(data));
      // MCP is text.
      this.onignored?.('noise');
      weigh('byteLength' in data ? data.byteLength : 0);
    });
  }

  async send(message: JSONRPCMessage): Promise<void> {
    return this.#write(writeJson(message), 'method' in message && 'id' in message ? message.id : undefined);
  }

  /** A request, if it has an id, or a notification. */
  sendText(text: string, id?: unknown): Promise<void> | undefined {
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
    this.#sendNow(text, id);
    return Promise.resolve();
  }

  #sendNow(text: string, id: unknown): void {
    if (id !== undefined) this.#sink.sent();
    this.#socket?.send(text, this.#onWritten);
  }

  /** One function for all: a call allocates as few objects as possible. */
  readonly #onWritten = (error?: Error | null): void => {
    if (error == null) this.outbox.onDrain();
  };

  async close(): Promise<void> {
    const socket = this.#socket;
    this.#onEnd();
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

  #onEnd(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.onunsent?.(this.outbox.close());
    this.onclose?.();
  }

  #refusedError(status: number): TurnbuckleError {
    const { server } = this.#options;
    if (status === 401 || status === 403) return authRequired(server, status);
    return new TurnbuckleError(
      'CONNECT_FAILED',
      `Server "${server}" rejected the WebSocket connection (HTTP ${status}).`,
      {
        server,
        hint: 'Check the address. It must be a WebSocket endpoint with the subprotocol "mcp".',
      },
    );
  }

  #connectError(cause: Error): TurnbuckleError {
    const { server, url } = this.#options;
    return new TurnbuckleError('CONNECT_FAILED', `Cannot reach server "${server}".`, {
      server,
      cause,
      hint: `Check that the server is running and that its address is correct: turnbuckle config ${shellQuote(server)}`,
      data: { address: new URL(url).origin },
    });
  }
}

/**
 * One pong for all pings that arrived together, to the last of them, as the protocol allows: each is a separate
 * write. The next is written when the last was flushed: a peer that does not read gets no more.
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
