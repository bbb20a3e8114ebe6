/** Bounds what a response body may bring: in total, or for an event stream between two events. */
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises';
import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { GrowingBuffer } from '../fetching/growing-buffer.js';
import { EventLines } from './event-lines.js';
import { type FloodMeter, weigh } from './flood-meter.js';
import type { StandIns } from './stand-ins.js';

export interface BodyLimits {
  readonly maxBytes: number;
  /** What the body ends with when it is over the limit. */
  readonly onExceeded: () => Error;
  /** Weighs an event stream, which has no end. */
  readonly flood?: FloodMeter | undefined;
  /** For a reader that would read a large message at once. */
  readonly standIns?: StandIns | undefined;
}

/** The same response with a body that errors once it is over the limit. */
export function limitBody(
  response: Response,
  { maxBytes, onExceeded, flood, standIns }: BodyLimits,
): Response {
  if (response.body === null) return response;
  const perEvent = response.headers.get('content-type')?.includes('text/event-stream') ?? false;
  const held = perEvent ? new EventLines() : new GrowingBuffer();
  const rewrite = perEvent && standIns !== undefined ? rewriteEvents(standIns) : undefined;
  const counted = response.body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      async transform(chunk, controller) {
        const ready = held.push(chunk);
        if (held.length > maxBytes) return controller.error(onExceeded());
        if (ready !== undefined) {
          const passed = rewrite === undefined ? ready : await rewrite(ready);
          if (passed.length > 0) controller.enqueue(passed);
        }
        // The reader takes all events of a chunk without a pause; a flood must not hold up everybody else.
        if (perEvent) await nextTurn();
        // An event is weighed when it is whole: it may be an answer, which then is none of this.
        const pauseMs = perEvent && ready !== undefined ? (flood?.take(weigh(ready)) ?? 0) : 0;
        if (pauseMs > 0) await delay(pauseMs, undefined, { ref: false });
      },
      flush(controller) {
        // The beginning of a line is no event.
        if (held.length > 0 && rewrite === undefined) controller.enqueue(held.take());
      },
    }),
  );
  const text = (): Promise<string> => new Response(counted).text();
  return new Proxy(response, {
    // A new Response would lose url, redirected and type, which the SDK looks at.
    get(target, key) {
      if (key === 'body') return counted;
      if (key === 'text') return text;
      if (key === 'json')
        return async () =>
          standIns === undefined ? JSON.parse(await text()) : standIns.forBody(await text());
      const value: unknown = Reflect.get(target, key, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

/** The events in some lines, those that are whole now, with a small message in the place of each large one. */
function rewriteEvents(standIns: StandIns): (lines: Uint8Array) => Promise<Uint8Array> {
  const decoder = new TextDecoder();
  let events: (EventSourceMessage | number)[] = [];
  const parser = createParser({
    onEvent: (event) => void events.push(event),
    // In digits, however many there were.
    onRetry: (ms) => void events.push(Math.min(ms, Number.MAX_SAFE_INTEGER)),
  });
  return async (lines) => {
    events = [];
    parser.feed(decoder.decode(lines, { stream: true }));
    let written = '';
    for (const event of events) {
      if (typeof event === 'number') written += `retry: ${event}\n`;
      else written += eventText({ ...event, data: await standIns.forEvent(event.data) });
    }
    return Buffer.from(written);
  };
}

function eventText({ id, event, data }: EventSourceMessage): string {
  const head = `${id === undefined ? '' : `id: ${id}\n`}${event === undefined ? '' : `event: ${event}\n`}`;
  return `${head}data: ${data.replaceAll('\n', '\ndata: ')}\n\n`;
}
