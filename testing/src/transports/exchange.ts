import type { ServerResponse } from 'node:http';
import type { Channel, DeliveryNote } from '../kernel/channel.js';
import type { EventStream } from './event-stream.js';

/** How requests are answered: `auto` streams only when something precedes the answer. */
export type Answers = 'auto' | 'json' | 'sse';

export interface ExchangeOptions {
  readonly answers: Answers;
  /** Opens the stream when one is needed. */
  stream(): EventStream;
  /** Takes what cannot travel in a plain JSON answer. */
  readonly aside?: Channel;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The answer to one POST, as a channel. */
export class Exchange implements Channel {
  readonly #response: ServerResponse;
  readonly #options: ExchangeOptions;
  #stream: EventStream | undefined;

  constructor(response: ServerResponse, options: ExchangeOptions) {
    this.#response = response;
    this.#options = options;
    for (const [name, value] of Object.entries(options.headers ?? {})) response.setHeader(name, value);
  }

  deliver(text: string, { final, status = 200 }: DeliveryNote): void {
    const { answers, aside } = this.#options;
    if (!final && answers === 'json') {
      aside?.deliver(text, { final });
    } else if (!final || this.#stream || (answers === 'sse' && status === 200)) {
      this.#open().push(text);
      if (final) this.#open().finish();
    } else {
      // Something may have leaked before: then the head is gone and the answer follows the junk.
      if (!this.#response.headersSent)
        this.#response.writeHead(status, { 'content-type': 'application/json' });
      this.#response.end(text);
    }
  }

  leak(bytes: string | Uint8Array): void {
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
