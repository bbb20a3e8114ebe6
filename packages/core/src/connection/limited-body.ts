/** Bounds what a response body may bring: in total, or for an event stream between two events. */
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises';
import { GrowingBuffer } from '../fetching/growing-buffer.js';
import { EventLines } from './event-lines.js';
import { type FloodMeter, weigh } from './flood-meter.js';

export interface BodyLimits {
  readonly maxBytes: number;
  /** What the body ends with when it is over the limit. */
  readonly onExceeded: () => Error;
  /** Weighs an event stream, which has no end. */
  readonly flood?: FloodMeter | undefined;
}

/** The same response with a body that errors once it is over the limit. */
export function limitBody(response: Response, { maxBytes, onExceeded, flood }: BodyLimits): Response {
  if (response.body === null) return response;
  const perEvent = response.headers.get('content-type')?.includes('text/event-stream') ?? false;
  const held = perEvent ? new EventLines() : new GrowingBuffer();
  const counted = response.body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      async transform(chunk, controller) {
        const ready = held.push(chunk);
        if (held.length > maxBytes) return controller.error(onExceeded());
        if (ready !== undefined) controller.enqueue(ready);
        // The reader takes all events of a chunk without a pause; a flood must not hold up everybody else.
        if (perEvent) await nextTurn();
        // An event is weighed when it is whole: it may be an answer, which then is none of this.
        const pauseMs = perEvent && ready !== undefined ? (flood?.take(weigh(ready)) ?? 0) : 0;
        if (pauseMs > 0) await delay(pauseMs, undefined, { ref: false });
      },
      flush(controller) {
        if (held.length > 0) controller.enqueue(held.take());
      },
    }),
  );
  return new Proxy(response, {
    // A new Response would lose url, redirected and type, which the SDK looks at.
    get(target, key) {
      if (key === 'body') return counted;
      if (key === 'text') return () => new Response(counted).text();
      if (key === 'json') return () => new Response(counted).json();
      const value: unknown = Reflect.get(target, key, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}
