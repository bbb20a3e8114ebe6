/** Bounds what a response body may bring: in total, or for an event stream between two events. */

/** The same response with a body that errors once it is over the limit. */
export function limitBody(response: Response, maxBytes: number, onExceeded: () => Error): Response {
  if (response.body === null) return response;
  const perEvent = response.headers.get('content-type')?.includes('text/event-stream') ?? false;
  let bytes = 0;
  const counted = response.body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      async transform(chunk, controller) {
        bytes = perEvent ? bytesSinceEvent(chunk, bytes) : bytes + chunk.length;
        if (bytes > maxBytes) controller.error(onExceeded());
        else controller.enqueue(chunk);
        // The reader takes all events of a chunk without a pause; a flood must not hold up everybody else.
        if (perEvent) await new Promise((resolve) => setImmediate(resolve));
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

const NEWLINE = 10;
const CARRIAGE_RETURN = 13;

/** Bytes since the last blank line (the end of an event), given those before this chunk. */
export function bytesSinceEvent(chunk: Uint8Array, before: number): number {
  for (let index = chunk.length - 1; index > 0; index -= 1) {
    const byte = chunk[index];
    if (byte !== NEWLINE && byte !== CARRIAGE_RETURN) continue;
    const previous = chunk[index - 1];
    const blank =
      previous === byte || (byte === NEWLINE && previous === CARRIAGE_RETURN && chunk[index - 2] === NEWLINE);
    if (blank) return chunk.length - index - 1;
  }
  return before + chunk.length;
}
