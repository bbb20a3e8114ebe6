/** Messages as server-sent events on an HTTP answer. */
import type { ServerResponse } from 'node:http';
import { type AnswerText, within, writeText } from '../http/answer-text.js';

/** Comments keep proxies and clients from giving up on a quiet stream. */
const KEEP_ALIVE_MS = 15_000;
/** What may lie here for a client that reads more slowly than there are news; beyond it, it misses some. */
const MAX_UNSENT_BYTES = 4 * 1_024 * 1_024;
/** A client that has read nothing for so long has gone; the comments are there to be read. */
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

  /** News. A client that is far behind gets none; JSON text has no line breaks of its own, so it is one data line. */
  send(json: string, event = 'message'): void {
    const unsent = this.#response.writableLength;
    if (unsent === 0 || unsent + json.length <= MAX_UNSENT_BYTES) this.sendAlways(json, event);
  }

  /** What has to arrive however large it is: an answer, which is bounded where it comes from. */
  sendAlways(json: AnswerText, event = 'message'): void {
    this.#write(within(`event: ${event}\ndata: `, json, '\n\n'));
  }

  end(): void {
    clearInterval(this.#timer);
    this.#response.end();
  }

  #write(text: AnswerText): void {
    if (this.isOpen) writeText(this.#response, text);
  }

  /** One that nobody reads is enough. */
  #comment(): void {
    if (this.#response.writableLength === 0) this.#write(': \n\n');
  }
}
