/** A client that reads events over HTTP: it gets what it may know, as long as it reads and its token is valid. */
import { offAbort, onAbort } from 'turnbuckle/host';
import type { RequestContext } from '../../http/request-context.js';
import type { Visibility } from '../visibility.js';
import type { EventFeed, FeedEvent } from './event-feed.js';

export interface EventReaderOptions {
  readonly context: RequestContext;
  readonly feed: EventFeed;
  readonly visibility: Visibility;
  /** Absent: all of them. */
  readonly names: ReadonlySet<string> | undefined;
  readonly limits: StreamLimits;
}

export interface StreamLimits {
  readonly keepAliveMs: number;
  /** The most bytes buffered for a client that does not read; in a burst, four times as much. */
  readonly maxUnsentBytes: number;
}

const BURST_FACTOR = 4;

/** Responds with an endless stream; it ends with the client, its token or the server. */
export function sendEvents(options: EventReaderOptions): void {
  const { context, feed, limits } = options;
  const { request, response, closing, streamSignal } = context;
  const reader = new EventReader(options);
  response.writeHead(200, {
    'content-type': 'text/event-stream',
    'cache-control': 'no-store, no-transform',
    'x-accel-buffering': 'no',
  });
  response.write('retry: 2000\n\n');
  // In the same tick, so that no event is sent twice or missed.
  const stop = feed.subscribe(reader.send);
  const { missed, events } = feed.since(lastEventId(request.headers['last-event-id']));
  if (missed) response.write('event: missed\ndata: {"type":"missed"}\n\n');
  for (const event of events) reader.send(event);
  const timer = setInterval(() => reader.write(':\n\n'), limits.keepAliveMs).unref();
  const end = (): void => void response.end();
  onAbort(closing, end);
  onAbort(streamSignal, end);
  response.once('close', () => {
    stop();
    clearInterval(timer);
    offAbort(closing, end);
  });
}

const lastEventId = (header: string | string[] | undefined): string | undefined =>
  Array.isArray(header) ? header[0] : header;

class EventReader {
  readonly #options: EventReaderOptions;
  #isCheckScheduled = false;

  constructor(options: EventReaderOptions) {
    this.#options = options;
  }

  readonly send = ({ name, subject, text, readAccessText }: FeedEvent): void => {
    const { names, visibility, context } = this.#options;
    if (names !== undefined && !names.has(name)) return;
    const visibleText = context.identity.access.has('admin') ? text : readAccessText;
    if (
      visibleText !== undefined &&
      (subject === undefined ? visibility.isUnrestricted : visibility.canSee(subject))
    )
      this.write(visibleText);
  };

  write(text: string): void {
    const { context, limits } = this.#options;
    const { response } = context;
    if (response.writableEnded || response.destroyed) return;
    response.write(text);
    if (response.writableLength > limits.maxUnsentBytes * BURST_FACTOR) response.destroy();
    else if (response.writableLength > limits.maxUnsentBytes && !this.#isCheckScheduled) this.#checkLater();
  }

  /** Many events can occur before the socket gets its turn: that is not the client's fault. */
  #checkLater(): void {
    const { context, limits } = this.#options;
    this.#isCheckScheduled = true;
    setImmediate(() => {
      this.#isCheckScheduled = false;
      if (context.response.writableLength > limits.maxUnsentBytes) context.response.destroy();
    });
  }
}
