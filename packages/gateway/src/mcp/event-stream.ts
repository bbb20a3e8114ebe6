/** Messages as server-sent events on an HTTP answer. */
import type { ServerResponse } from 'node:http';

export interface EventStreamOptions {
  /** Comments that keep proxies and clients from giving up on a quiet stream. */
  readonly keepAliveMs: number;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

export class EventStream {
  readonly #response: ServerResponse;
  readonly #timer: NodeJS.Timeout;

  constructor(response: ServerResponse, { keepAliveMs, headers }: EventStreamOptions) {
    this.#response = response;
    response.writeHead(200, {
      'content-type': 'text/event-stream',
      'cache-control': 'no-cache, no-transform',
      'x-accel-buffering': 'no',
      ...headers,
    });
    response.flushHeaders();
    this.#timer = setInterval(() => response.write(': \n\n'), keepAliveMs).unref();
    response.once('close', () => clearInterval(this.#timer));
  }

  get isOpen(): boolean {
    return !this.#response.writableEnded && !this.#response.destroyed;
  }

  /** JSON text has no line breaks of its own, so it is one data line. */
  send(json: string, id?: string): void {
    if (!this.isOpen) return;
    this.#response.write(`${id === undefined ? '' : `id: ${id}\n`}event: message\ndata: ${json}\n\n`);
  }

  end(): void {
    clearInterval(this.#timer);
    this.#response.end();
  }
}
