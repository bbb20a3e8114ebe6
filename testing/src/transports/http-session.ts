import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Channel } from '../kernel/channel.js';
import type { FixtureServer } from '../kernel/fixture-server.js';
import type { Session } from '../kernel/session.js';
import { EventStream } from './event-stream.js';
import { Exchange, type ResponseMode } from './exchange.js';

const RETRY_MS = 20;
const PRIMED_SINCE = '2025-11-25';

/** A legacy session over Streamable HTTP: its streams, and the kernel session behind them. */
export class HttpSession implements Channel {
  readonly id: string | undefined;
  readonly session: Session;
  readonly #answers: ResponseMode;
  readonly #streams = new Map<string, EventStream>();
  #pushStream: EventStream | undefined;

  constructor(server: FixtureServer, answers: ResponseMode, id?: string) {
    this.id = id;
    this.#answers = answers;
    this.session = server.open(this);
  }

  /** Answers one POST that contains a request. */
  async post(message: unknown, response: ServerResponse): Promise<void> {
    const exchange = new Exchange(response, {
      answers: this.#answers,
      stream: () => this.#createStream(),
      pushChannel: this,
      headers: this.id === undefined ? {} : { 'mcp-session-id': this.id },
    });
    await this.session.receive(message, exchange);
  }

  /** Opens the standing stream, or resumes the one that `Last-Event-ID` names. */
  get(request: IncomingMessage, response: ServerResponse): void {
    const [streamId = '', number] = String(request.headers['last-event-id'] ?? '').split('.');
    const resumed = this.#streams.get(streamId);
    if (resumed === undefined) {
      this.#pushStream?.finish();
      this.#pushStream = this.#createStream();
    }
    (resumed ?? this.#pushStream)?.attach(response, Number(number ?? 0));
  }

  /** Ends the standing stream. */
  finish(): void {
    this.#pushStream?.finish();
  }

  deliver(text: string): void {
    this.#pushStream?.push(text);
  }

  writeRaw(bytes: string | Uint8Array): void {
    this.#pushStream?.leak(bytes);
  }

  drop(): void {
    this.#pushStream?.drop();
  }

  #createStream(): EventStream {
    const primed = (this.session.revision ?? '') >= PRIMED_SINCE;
    const id = `stream${this.#streams.size}`;
    const stream = new EventStream({ id, resumable: true, ...(primed && { retryMs: RETRY_MS }) });
    this.#streams.set(stream.id, stream);
    return stream;
  }
}
