import type { ServerResponse } from 'node:http';

export interface EventStreamOptions {
  readonly id: string;
  /** Number the events and keep them, so that a client can resume after a break. */
  readonly resumable: boolean;
  /** Start with an empty event that has an id, so that even a break before the first message can be resumed. */
  readonly retryMs?: number;
}

/** One server-sent event stream; outlives its HTTP response when resumable. */
export class EventStream {
  readonly id: string;
  readonly #resumable: boolean;
  readonly #retryMs: number | undefined;
  readonly #kept: string[] = [];
  #response: ServerResponse | undefined;
  #finished = false;

  constructor(options: EventStreamOptions) {
    this.id = options.id;
    this.#resumable = options.resumable;
    this.#retryMs = options.retryMs;
  }

  /** Sends the head and everything after event number `after` on this response, then whatever follows. */
  attach(response: ServerResponse, after = 0): void {
    this.#response = response;
    response.on('close', () => {
      if (this.#response === response) this.#response = undefined;
    });
    response.writeHead(200, {
      'content-type': 'text/event-stream',
      'cache-control': 'no-cache, no-transform',
      'x-accel-buffering': 'no',
    });
    if (this.#retryMs !== undefined && after === 0) {
      response.write(`id: ${this.id}.0\nretry: ${this.#retryMs}\ndata: \n\n`);
    }
    response.flushHeaders();
    for (let index = after; index < this.#kept.length; index += 1)
      this.#write(this.#kept[index] ?? '', index + 1);
    if (this.#finished) response.end();
  }

  /** Sends one message. */
  push(text: string): void {
    if (this.#resumable) this.#kept.push(text);
    this.#write(text, this.#kept.length);
  }

  leak(bytes: string | Uint8Array): void {
    this.#response?.write(bytes);
  }

  /** Breaks the connection; a resumable stream goes on collecting. */
  drop(): void {
    const socket = this.#response?.socket;
    this.#response = undefined;
    // Data written so far still has to be sent, or there would be no event id to resume from.
    setImmediate(() => socket?.destroySoon());
  }

  /** No event follows: the response ends properly. */
  finish(): void {
    this.#finished = true;
    this.#response?.end();
    this.#response = undefined;
  }

  #write(text: string, number: number): void {
    const id = this.#resumable ? `id: ${this.id}.${number}\n` : '';
    this.#response?.write(`event: message\n${id}data: ${text}\n\n`);
  }
}
