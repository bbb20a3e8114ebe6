/** Messages as server-sent events in an HTTP response. */
import type { ServerResponse } from 'node:http';
import { type ResponseText, wrapText, writeText } from './response-text.js';

/** Comments keep proxies and clients from closing an idle stream. */
const KEEP_ALIVE_MS = 15_000;
/** The most bytes buffered for a slow client; beyond it, messages are skipped. */
const MAX_UNSENT_BYTES = 4 * 1_024 * 1_024;
/** A client that has read nothing for this long is gone: it would have read the keep-alive comments. */
const STALLED_MS = 60_000;

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
    response.setTimeout(STALLED_MS);
    this.#timer = setInterval(() => this.#comment(), KEEP_ALIVE_MS).unref();
    response.once('close', () => clearInterval(this.#timer));
    if (response.destroyed) clearInterval(this.#timer);
  }

  get isOpen(): boolean {
    return !this.#response.writableEnded && !this.#response.destroyed;
  }

  /** Sends a message unless the client is too far behind. JSON has no raw line breaks, so it is one data line. */
  send(json: string, event = 'message'): void {
    const unsent = this.#response.writableLength;
    if (unsent === 0 || unsent + json.length <= MAX_UNSENT_BYTES) this.sendAlways(json, event);
  }

  /** Sends a message of any size: for responses, whose size is limited elsewhere. */
  sendAlways(json: ResponseText, event = 'message'): void {
    this.#write(wrapText(`event: ${event}\ndata: `, json, '\n\n'));
  }

  end(): void {
    clearInterval(this.#timer);
    this.#response.end();
  }

  #write(text: ResponseText): void {
    if (this.isOpen) writeText(this.#response, text);
  }

  /** One unread comment is enough. */
  #comment(): void {
    if (this.#response.writableLength === 0) this.#write(': \n\n');
  }
}
