/** The answer to a POST: JSON, or an event stream from the first message that comes before it. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { EventStream } from './event-stream.js';
import type { Reply } from './reply.js';

/** A call that takes longer shows by a stream that it is alive. */
const QUIET_MS = 20_000;

export class PostAnswer implements Reply {
  readonly canStream: boolean;
  readonly #response: ServerResponse;
  readonly #headers: Readonly<Record<string, string>>;
  #timer: NodeJS.Timeout | undefined;
  #stream: EventStream | undefined;

  constructor(
    { headers: { accept = '*/*' } }: IncomingMessage,
    response: ServerResponse,
    headers: Readonly<Record<string, string>> = {},
  ) {
    this.canStream = accept.includes('text/event-stream') || accept.includes('*/*');
    this.#response = response;
    this.#headers = headers;
    if (this.canStream) this.#timer = setTimeout(open, QUIET_MS, this);
  }

  get isOpen(): boolean {
    return !this.#response.writableEnded && !this.#response.destroyed;
  }

  /** The stream, from now on. */
  stream(): EventStream {
    clearTimeout(this.#timer);
    this.#stream ??= new EventStream(this.#response, this.#headers);
    return this.#stream;
  }

  send(text: string): void {
    if (this.canStream && this.isOpen) this.stream().send(text);
  }

  finish(text: string, http = 200): void {
    clearTimeout(this.#timer);
    if (!this.isOpen) return;
    if (this.#stream !== undefined) {
      this.#stream.sendAlways(text);
      return this.#stream.end();
    }
    this.#response.writeHead(http, {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(text),
      ...this.#headers,
    });
    this.#response.end(text);
  }

  /** Taken, and nothing to say. */
  accept(): void {
    clearTimeout(this.#timer);
    this.#response.writeHead(202, { ...this.#headers, 'content-length': 0 });
    this.#response.end();
  }
}

const open = (answer: PostAnswer): void => {
  if (answer.isOpen) answer.stream();
};
