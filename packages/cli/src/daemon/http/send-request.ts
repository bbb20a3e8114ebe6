/**
 * One HTTP request on a connection of its own. By hand, because a call through the daemon takes hardly longer than
 * Node's start, and loading Node's HTTP client would be a good part of that.
 */

import { connect, type Socket } from 'node:net';
import { StringDecoder } from 'node:string_decoder';
import { type CancelSignal, offAbort, onAbort, writeJson } from 'turnbuckle/host';
import { MAX_RESPONSE_BYTES, responseTooLarge, unusableResponse } from '../unusable-response.js';
import { HttpResponseParser } from './http-response-parser.js';

export interface HttpRequestOptions {
  readonly url: string;
  readonly method?: 'GET' | 'POST' | 'DELETE' | undefined;
  readonly token?: string | undefined;
  /** Sent as JSON. */
  readonly body?: unknown;
  readonly accept?: string | undefined;
  /** Aborted: the connection is closed immediately. */
  readonly signal?: CancelSignal | undefined;
  /** Idle timeout. */
  readonly idleTimeoutMs?: number | undefined;
  /** The body as it comes, instead of in the answer; not that of a refusal. */
  readonly onText?: ((text: string) => void) | undefined;
}

export interface HttpResponse {
  readonly status: number;
  readonly text: string;
  /** Number of configuration problems that the daemon reports. */
  readonly problemCount: number;
}

/** No complete response: connection refused, or lost before the end. */
export class NoResponseError extends Error {
  override readonly name = 'NoResponseError';
  /** True when the request may have arrived and done something. */
  readonly mayHaveActed: boolean;

  constructor(message: string, mayHaveActed: boolean) {
    super(message);
    this.mayHaveActed = mayHaveActed;
  }
}

/** Rejects with NoAnswer, with what is wrong with the answer, or with the reason of the signal. */
export async function sendRequest(options: HttpRequestOptions): Promise<HttpResponse> {
  const { url, signal } = options;
  if (signal?.aborted === true) throw signal.reason;
  const target = new URL(url);
  const socket = await openSocket(target);
  return new Promise((resolve, reject) =>
    new PendingRequest(socket, { ...options, target, resolve, reject }).start(),
  );
}

async function openSocket({ protocol, hostname, port }: URL): Promise<Socket> {
  const host = hostname.replace(/^\[|\]$/g, '');
  if (protocol !== 'https:') return connect(Number(port || 80), host);
  const tls = await import('node:tls');
  return tls.connect({ port: Number(port || 443), host, servername: host });
}

interface PendingRequestOptions extends HttpRequestOptions {
  readonly target: URL;
  readonly resolve: (answered: HttpResponse) => void;
  readonly reject: (error: unknown) => void;
}

class PendingRequest {
  readonly #socket: Socket;
  readonly #options: PendingRequestOptions;
  readonly #reader = new HttpResponseParser((what) => unusableResponse(this.#options.url, what));
  readonly #decoder = new StringDecoder('utf8');
  readonly #onAbort = (): void => this.#fail(this.#options.signal?.reason);
  #text = '';
  #bytes = 0;
  #isConnected = false;

  constructor(socket: Socket, options: PendingRequestOptions) {
    this.#socket = socket;
    this.#options = options;
  }

  start(): void {
    const { signal, idleTimeoutMs } = this.#options;
    const socket = this.#socket;
    socket.once('connect', () => {
      this.#isConnected = true;
    });
    socket.on('data', (part: Buffer) => this.#onData(part));
    socket.once('end', () => this.#onEnd());
    socket.once('error', (error) => this.#fail(this.#noResponse(error.message)));
    socket.once('close', () => this.#onEnd());
    if (idleTimeoutMs !== undefined)
      socket.setTimeout(idleTimeoutMs, () =>
        this.#fail(this.#noResponse('it did not send anything in time')),
      );
    socket.setNoDelay(true);
    // Last: a signal that aborted while the socket was created closes it here.
    onAbort(signal, this.#onAbort);
    if (!socket.destroyed) socket.write(this.#serializeRequest());
  }

  #serializeRequest(): string {
    const { method = 'GET', target, token, body, accept = 'application/json' } = this.#options;
    const text = body === undefined ? '' : writeJson(body);
    return [
      `${method} ${target.pathname}${target.search} HTTP/1.1`,
      `host: ${target.host}`,
      'connection: close',
      `accept: ${accept}`,
      ...(token === undefined ? [] : [`authorization: Bearer ${token}`]),
      ...(body === undefined
        ? []
        : ['content-type: application/json', `content-length: ${Buffer.byteLength(text)}`]),
      '',
      text,
    ].join('\r\n');
  }

  #onData(part: Buffer): void {
    try {
      for (const bytes of this.#reader.push(part)) this.#onBody(bytes);
    } catch (error) {
      return this.#fail(error);
    }
    if (this.#reader.isComplete) this.#finish();
  }

  #onBody(bytes: Buffer): void {
    // A stream has no size limit: its parser buffers at most one event.
    if (this.#isBuffered) this.#bytes += bytes.length;
    if (this.#bytes > MAX_RESPONSE_BYTES) throw responseTooLarge(this.#options.url);
    this.#emitText(this.#decoder.write(bytes));
  }

  get #isBuffered(): boolean {
    return this.#options.onText === undefined || this.#reader.status >= 300;
  }

  #emitText(text: string): void {
    if (this.#isBuffered) this.#text += text;
    else if (text !== '') this.#options.onText?.(text);
  }

  #onEnd(): void {
    if (this.#reader.end()) this.#finish();
    else this.#fail(this.#noResponse('the connection was closed'));
  }

  #finish(): void {
    this.#emitText(this.#decoder.end());
    this.#cleanUp();
    const { status, problemCount } = this.#reader;
    this.#options.resolve({ status, text: this.#text, problemCount });
  }

  #noResponse(message: string): NoResponseError {
    return new NoResponseError(message, this.#isConnected && (this.#options.method ?? 'GET') !== 'GET');
  }

  #fail(error: unknown): void {
    this.#cleanUp();
    this.#options.reject(error);
  }

  #cleanUp(): void {
    offAbort(this.#options.signal, this.#onAbort);
    this.#socket.removeAllListeners();
    // Ignore later data and errors.
    this.#socket.on('error', () => {});
    this.#socket.destroy();
  }
}
