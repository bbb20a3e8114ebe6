/** Bounds what a response body may bring: in total, or for an event stream between two events. */
import { GrowingBuffer } from '../fetching/growing-buffer.js';
import { EventLines } from './event-lines.js';

/** The same response with a body that errors once it is over the limit. */
export function limitBody(response: Response, maxBytes: number, onExceeded: () => Error): Response {
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
        if (perEvent) await new Promise((resolve) => setImmediate(resolve));
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
