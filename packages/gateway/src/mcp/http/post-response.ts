/** The response to a POST: JSON, or an event stream as soon as a message comes before the result. */
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { EventStream } from '../../http/event-stream.js';
import type { RequestUsage } from '../../http/limits/in-flight-requests.js';
import { LARGE_RESPONSE_BYTES, type ResponseText, SharedText } from '../../http/response-text.js';
import type { Reply } from '../protocol/reply.js';

/** A longer call switches to a stream, to show that it is alive. */
const STREAM_AFTER_MS = 20_000;

/** The request, and what it holds of shared limits. */
export interface PostedRequest {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly usage?: RequestUsage | undefined;
}

export class PostResponse implements Reply {
  readonly canStream: boolean;
  readonly headers: IncomingHttpHeaders;
  readonly #response: ServerResponse;
  readonly #usage: RequestUsage | undefined;
  readonly #headers: Readonly<Record<string, string>>;
  #timer: NodeJS.Timeout | undefined;
  #stream: EventStream | undefined;

  constructor({ request, response, usage }: PostedRequest, headers: Readonly<Record<string, string>> = {}) {
    const { accept = '*/*' } = request.headers;
    this.headers = request.headers;
    this.canStream = accept.includes('text/event-stream') || accept.includes('*/*');
    this.#response = response;
    this.#usage = usage;
    this.#headers = headers;
    if (this.canStream) this.#timer = setTimeout(openStream, STREAM_AFTER_MS, this);
  }

  get isOpen(): boolean {
    return !this.#response.writableEnded && !this.#response.destroyed;
  }

  /** Switches to a stream. */
  stream(): EventStream {
    clearTimeout(this.#timer);
    this.#stream ??= new EventStream(this.#response, this.#headers);
    return this.#stream;
  }

  send(text: string): void {
    if (this.canStream && this.isOpen) this.stream().send(text);
  }

  finish(text: ResponseText, http = 200): void | Promise<void> {
    clearTimeout(this.#timer);
    if (!this.isOpen) return;
    const mayWrite = this.#waitToWrite(text);
    if (mayWrite === true) return this.#finish(text, http);
    if (mayWrite === false) return void this.#response.destroy();
    return mayWrite.then((isTurn) => {
      if (!isTurn) this.#response.destroy();
      else if (this.isOpen) this.#finish(text, http);
    });
  }

  /** Counted before it is written: written bytes are in memory until the client reads them. */
  #waitToWrite(text: ResponseText): boolean | Promise<boolean> {
    const usage = this.#usage;
    if (usage === undefined) return true;
    if (text instanceof SharedText) return usage.waitToWrite(text, () => this.isOpen);
    return text.length < LARGE_RESPONSE_BYTES || usage.canBufferUnsent(text.length);
  }

  #finish(text: ResponseText, http: number): void {
    if (this.#stream !== undefined) {
      this.#stream.sendAlways(text);
      return this.#stream.end();
    }
    const response = this.#response;
    response.writeHead(http, {
      'content-type': 'application/json',
      'content-length': typeof text === 'string' ? Buffer.byteLength(text) : text.byteLength,
      ...this.#headers,
    });
    if (typeof text === 'string') return void response.end(text);
    response.cork();
    response.write(text.head);
    response.write(text.shared);
    response.end(text.tail);
  }

  /** Accepted, without a body. */
  accept(): void {
    clearTimeout(this.#timer);
    this.#response.writeHead(202, { ...this.#headers, 'content-length': 0 });
    this.#response.end();
  }
}

const openStream = (answer: PostResponse): void => {
  if (answer.isOpen) answer.stream();
};
