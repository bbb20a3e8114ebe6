import type { ServerResponse } from 'node:http';
import type { Channel, DeliveryOptions } from '../kernel/channel.js';
import type { EventStream } from './event-stream.js';

/** How requests are answered: `auto` uses a stream only if other messages precede the response. */
export type ResponseMode = 'auto' | 'json' | 'sse';

export interface ExchangeOptions {
  readonly answers: ResponseMode;
  /** Opens the stream when one is needed. */
  stream(): EventStream;
  /** Receives messages that do not fit into a plain JSON response. */
  readonly pushChannel?: Channel;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The response to one POST, as a channel. */
export class Exchange implements Channel {
  readonly #response: ServerResponse;
  readonly #options: ExchangeOptions;
  #stream: EventStream | undefined;

  constructor(response: ServerResponse, options: ExchangeOptions) {
    this.#response = response;
    this.#options = options;
    for (const [name, value] of Object.entries(options.headers ?? {})) response.setHeader(name, value);
  }

  deliver(text: string, { final, status = 200 }: DeliveryOptions): void {
    const { answers, pushChannel } = this.#options;
    if (!final && answers === 'json') {
      pushChannel?.deliver(text, { final });
    } else if (!final || this.#stream || (answers === 'sse' && status === 200)) {
      this.#open().push(text);
      if (final) this.#open().finish();
    } else {
      // If raw bytes were written before, the head is already sent and the response follows them.
      if (!this.#response.headersSent)
        this.#response.writeHead(status, { 'content-type': 'application/json' });
      this.#response.end(text);
    }
  }

  writeRaw(bytes: string | Uint8Array): void {
    if (!this.#response.headersSent) this.#response.writeHead(200, { 'content-type': 'application/json' });
    this.#response.write(bytes);
  }

  drop(): void {
    if (this.#options.answers === 'json') this.#response.socket?.destroy();
    else this.#open().drop();
  }

  #open(): EventStream {
    if (this.#stream === undefined) {
      this.#stream = this.#options.stream();
      this.#stream.attach(this.#response);
    }
    return this.#stream;
  }
}
