/** Messages as server-sent events on an HTTP answer. */
import type { ServerResponse } from 'node:http';

/** Comments keep proxies and clients from giving up on a quiet stream. */
const KEEP_ALIVE_MS = 15_000;
/** What a client that does not read may leave with us. */
const MAX_UNSENT_BYTES = 4 * 1_024 * 1_024;

export class EventStream {
  readonly #response: ServerResponse;
  readonly #timer: NodeJS.Timeout;

  constructor(response: ServerResponse, headers: Readonly<Record<string, string>> = {}) {
    this.#response = response;
    response.writeHead(200, {
      'content-type': 'text/event-stream',
      'cache-control': 'no-cache, no-transform',
      'x-accel-buffering': 'no',
      ...headers,
    });
    response.flushHeaders();
    this.#timer = setInterval(() => this.#write(': \n\n'), KEEP_ALIVE_MS).unref();
    response.once('close', () => clearInterval(this.#timer));
  }

  get isOpen(): boolean {
    return !this.#response.writableEnded && !this.#response.destroyed;
  }

  /** JSON text has no line breaks of its own, so it is one data line. */
  send(json: string, event = 'message'): void {
    this.#write(`event: ${event}\ndata: ${json}\n\n`);
  }

  end(): void {
    clearInterval(this.#timer);
    this.#response.end();
  }

  #write(text: string): void {
    if (!this.isOpen) return;
    this.#response.write(text);
    if (this.#response.writableLength > MAX_UNSENT_BYTES) this.#response.destroy();
  }
}
