/** The answer to a POST: JSON, or an event stream from the first message that comes before it. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type AnswerText, LARGE_ANSWER, SharedText } from '../http/answer-text.js';
import type { Place } from '../http/places.js';
import { EventStream } from './event-stream.js';
import type { Reply } from './reply.js';

/** A call that takes longer shows by a stream that it is alive. */
const QUIET_MS = 20_000;

/** The request that is answered, and what it holds of what all share. */
export interface Posted {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly place?: Place | undefined;
}

export class PostAnswer implements Reply {
  readonly canStream: boolean;
  readonly #response: ServerResponse;
  readonly #place: Place | undefined;
  readonly #headers: Readonly<Record<string, string>>;
  #timer: NodeJS.Timeout | undefined;
  #stream: EventStream | undefined;

  constructor({ request, response, place }: Posted, headers: Readonly<Record<string, string>> = {}) {
    const { accept = '*/*' } = request.headers;
    this.canStream = accept.includes('text/event-stream') || accept.includes('*/*');
    this.#response = response;
    this.#place = place;
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

  finish(text: AnswerText, http = 200): void | Promise<void> {
    clearTimeout(this.#timer);
    if (!this.isOpen) return;
    const mayWrite = this.#mayWrite(text);
    if (mayWrite === true) return this.#finish(text, http);
    if (mayWrite === false) return void this.#response.destroy();
    return mayWrite.then((isTurn) => {
      if (!isTurn) this.#response.destroy();
      else if (this.isOpen) this.#finish(text, http);
    });
  }

  /** Counted before it is written: what is written is there, whether or not anybody reads it. */
  #mayWrite(text: AnswerText): boolean | Promise<boolean> {
    const place = this.#place;
    if (place === undefined) return true;
    if (text instanceof SharedText) return place.turnFor(text, () => this.isOpen);
    return text.length < LARGE_ANSWER || place.mayLeaveUnsent(text.length);
  }

  #finish(text: AnswerText, http: number): void {
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
