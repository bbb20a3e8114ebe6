/**
 * One HTTP request on a connection of its own. By hand, because a call through the daemon takes hardly longer than
 * Node's start, and loading Node's HTTP client would be a good part of that.
 */

import { connect, type Socket } from 'node:net';
import { StringDecoder } from 'node:string_decoder';
import { type CancelSignal, offAbort, onAbort, writeJson } from 'turnbuckle';
import { HttpReader } from './http-reader.js';
import { MAX_ANSWER_BYTES, tooLong, unusable } from './unusable-answer.js';

export interface ExchangeOptions {
  readonly url: string;
  readonly method?: 'GET' | 'POST' | 'DELETE' | undefined;
  readonly token?: string | undefined;
  /** Sent as JSON. */
  readonly body?: unknown;
  readonly accept?: string | undefined;
  /** Aborted: the connection ends at once. */
  readonly signal?: CancelSignal | undefined;
  /** Nothing came for so long: nobody answers. */
  readonly silenceMs?: number | undefined;
  /** The body as it comes, instead of in the answer; not that of a refusal. */
  readonly onText?: ((text: string) => void) | undefined;
}

export interface Answered {
  readonly status: number;
  readonly text: string;
  /** How much the daemon says is wrong with its configuration. */
  readonly problems: number;
}

/** There is no answer: nobody listens there, or the connection broke before the whole of it was there. */
export class NoAnswer extends Error {
  override readonly name = 'NoAnswer';
  /** True when the request may have arrived and done something. */
  readonly mayHaveActed: boolean;

  constructor(message: string, mayHaveActed: boolean) {
    super(message);
    this.mayHaveActed = mayHaveActed;
  }
}

/** Rejects with NoAnswer, with what is wrong with the answer, or with the reason of the signal. */
export async function exchange(options: ExchangeOptions): Promise<Answered> {
  const { url, signal } = options;
  if (signal?.aborted === true) throw signal.reason;
  const target = new URL(url);
  const socket = await open(target);
  return new Promise((resolve, reject) =>
    new Running(socket, { ...options, target, resolve, reject }).start(),
  );
}

async function open({ protocol, hostname, port }: URL): Promise<Socket> {
  const host = hostname.replace(/^\[|\]$/g, '');
  if (protocol !== 'https:') return connect(Number(port || 80), host);
  const tls = await import('node:tls');
  return tls.connect({ port: Number(port || 443), host, servername: host });
}

interface RunningOptions extends ExchangeOptions {
  readonly target: URL;
  readonly resolve: (answered: Answered) => void;
  readonly reject: (error: unknown) => void;
}

class Running {
  readonly #socket: Socket;
  readonly #options: RunningOptions;
  readonly #reader = new HttpReader((what) => unusable(this.#options.url, what));
  readonly #decoder = new StringDecoder('utf8');
  readonly #abort = (): void => this.#fail(this.#options.signal?.reason);
  #text = '';
  #bytes = 0;
  #isConnected = false;

  constructor(socket: Socket, options: RunningOptions) {
    this.#socket = socket;
    this.#options = options;
  }

  start(): void {
    const { signal, silenceMs } = this.#options;
    const socket = this.#socket;
    onAbort(signal, this.#abort);
    socket.once('connect', () => {
      this.#isConnected = true;
    });
    socket.on('data', (part: Buffer) => this.#take(part));
    socket.once('end', () => this.#over());
    socket.once('error', (error) => this.#fail(this.#noAnswer(error.message)));
    socket.once('close', () => this.#over());
    if (silenceMs !== undefined)
      socket.setTimeout(silenceMs, () => this.#fail(this.#noAnswer('it is silent')));
    socket.setNoDelay(true);
    socket.write(this.#request());
  }

  #request(): string {
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

  #take(part: Buffer): void {
    try {
      for (const bytes of this.#reader.take(part)) this.#hear(bytes);
    } catch (error) {
      return this.#fail(error);
    }
    if (this.#reader.isWhole) this.#finish();
  }

  #hear(bytes: Buffer): void {
    // A stream has no end: whoever takes it apart keeps no more than an event.
    if (this.#isKept) this.#bytes += bytes.length;
    if (this.#bytes > MAX_ANSWER_BYTES) throw tooLong(this.#options.url);
    this.#say(this.#decoder.write(bytes));
  }

  get #isKept(): boolean {
    return this.#options.onText === undefined || this.#reader.status >= 300;
  }

  #say(text: string): void {
    if (this.#isKept) this.#text += text;
    else if (text !== '') this.#options.onText?.(text);
  }

  #over(): void {
    if (this.#reader.end()) this.#finish();
    else this.#fail(this.#noAnswer('the connection ended'));
  }

  #finish(): void {
    this.#say(this.#decoder.end());
    this.#leave();
    const { status, problems } = this.#reader;
    this.#options.resolve({ status, text: this.#text, problems });
  }

  #noAnswer(message: string): NoAnswer {
    return new NoAnswer(message, this.#isConnected && (this.#options.method ?? 'GET') !== 'GET');
  }

  #fail(error: unknown): void {
    this.#leave();
    this.#options.reject(error);
  }

  #leave(): void {
    offAbort(this.#options.signal, this.#abort);
    this.#socket.removeAllListeners();
    // What still comes is nobody's business, errors included.
    this.#socket.on('error', () => {});
    this.#socket.destroy();
  }
}
