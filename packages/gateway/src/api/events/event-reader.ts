/** One who follows the events over HTTP: gets what it may know, as long as it reads and its token is good. */
import { offAbort, onAbort } from 'turnbuckle';
import type { Visit } from '../../http/visit.js';
import type { Sight } from '../sight.js';
import type { EventFeed, FedEvent } from './event-feed.js';

export interface ReaderOptions {
  readonly visit: Visit;
  readonly feed: EventFeed;
  readonly sight: Sight;
  /** Absent: all of them. */
  readonly names: ReadonlySet<string> | undefined;
  readonly limits: StreamLimits;
}

export interface StreamLimits {
  readonly keepAliveMs: number;
  /** What may lie here for a client that does not read; for a moment four times as much. */
  readonly maxUnsentBytes: number;
}

const MOMENTARY = 4;

/** Answers with a stream without an end; it ends when the client, its token or the server does. */
export function sendEvents(options: ReaderOptions): void {
  const { visit, feed, limits } = options;
  const { request, response, closing, streamSignal } = visit;
  const reader = new EventReader(options);
  response.writeHead(200, {
    'content-type': 'text/event-stream',
    'cache-control': 'no-store, no-transform',
    'x-accel-buffering': 'no',
  });
  response.write('retry: 2000\n\n');
  // The same tick: nothing happens in between that would be told twice, or never.
  const stop = feed.follow(reader.tell);
  const { missed, events } = feed.since(lastEventId(request.headers['last-event-id']));
  if (missed) response.write('event: missed\ndata: {"type":"missed"}\n\n');
  for (const event of events) reader.tell(event);
  const timer = setInterval(() => reader.write(':\n\n'), limits.keepAliveMs).unref();
  const end = (): void => void response.end();
  onAbort(closing, end);
  onAbort(streamSignal, end);
  response.once('close', () => {
    stop();
    clearInterval(timer);
    offAbort(closing, end);
  });
  if (closing.aborted || streamSignal.aborted) end();
}

const lastEventId = (header: string | string[] | undefined): string | undefined =>
  Array.isArray(header) ? header[0] : header;

class EventReader {
  readonly #options: ReaderOptions;
  #isLate = false;

  constructor(options: ReaderOptions) {
    this.#options = options;
  }

  readonly tell = ({ name, about, text, lookText }: FedEvent): void => {
    const { names, sight, visit } = this.#options;
    if (names !== undefined && !names.has(name)) return;
    const told = visit.visitor.access.has('manage') ? text : lookText;
    if (told !== undefined && (about === undefined ? sight.isWhole : sight.sees(about))) this.write(told);
  };

  write(text: string): void {
    const { visit, limits } = this.#options;
    const { response } = visit;
    if (response.writableEnded || response.destroyed) return;
    response.write(text);
    if (response.writableLength > limits.maxUnsentBytes * MOMENTARY) response.destroy();
    else if (response.writableLength > limits.maxUnsentBytes && !this.#isLate) this.#checkLater();
  }

  /** Much can happen before the socket gets its turn: that is not the fault of who reads. */
  #checkLater(): void {
    const { visit, limits } = this.#options;
    this.#isLate = true;
    setImmediate(() => {
      this.#isLate = false;
      if (visit.response.writableLength > limits.maxUnsentBytes) visit.response.destroy();
    });
  }
}
