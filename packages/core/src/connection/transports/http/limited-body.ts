/** Bounds what a response body may bring: in total, or for an event stream between two events. */
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises';
import { GrowingBuffer } from '../fetching/growing-buffer.js';
import { EventLines } from './event-lines.js';
import { EventReader, type StreamEvent } from './event-reader.js';
import { type FloodMeter, weigh } from './flood-meter.js';
import type { Brought, StandIns } from './stand-ins.js';

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
  const brought: Brought = { names: new Set(), isOver: false };
  const rewrite = perEvent ? rewriteEvents(standIns, brought) : undefined;
  const limited = new TransformStream<Uint8Array, Uint8Array>({
    async transform(chunk, controller) {
      const ready = held.push(chunk);
      if (held.length > maxBytes) return controller.error(onExceeded());
      if (rewrite === undefined) {
        if (ready !== undefined) controller.enqueue(ready);
        return;
      }
      // The reader takes all that it is given without a pause; a flood must not hold up everybody else.
      for await (const events of rewrite(ready)) {
        controller.enqueue(events);
        await nextTurn();
      }
      await nextTurn();
      if (ready === undefined) return;
      // An event is weighed when it is whole: it may be an answer, which then is none of this.
      const pauseMs = flood?.take(weigh(ready)) ?? 0;
      if (pauseMs > 0) await delay(pauseMs, undefined, { ref: false });
    },
    flush(controller) {
      // The beginning of a line is no event.
      if (held.length > 0 && rewrite === undefined) controller.enqueue(held.take());
    },
  });
  const counted = limited.readable;
  response.body.pipeTo(limited.writable).catch(async () => {
    // What is on its way to the reader gets there, or never.
    await nextTurn();
    standIns?.forget(brought);
  });
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

type RewriteEvents = (lines: Uint8Array | undefined) => AsyncGenerator<Uint8Array>;

/** So many are handed on at once. */
const EVENTS_OF_TURN = 64;

/**
 * The events in some lines, those that are whole now, and nothing else that was in them: how long another reader would
 * take over that is not known here. Of each large message, only what stands for it.
 */
function rewriteEvents(standIns: StandIns | undefined, brought: Brought): RewriteEvents {
  let events: (StreamEvent | number)[] = [];
  const reader = new EventReader({
    onEvent: (event) => void events.push(event),
    onRetry: (ms) => void events.push(ms),
  });
  return async function* (lines) {
    events = [];
    if (lines !== undefined) reader.read(lines);
    for (let at = 0; at < events.length; at += EVENTS_OF_TURN) {
      let written = '';
      for (const event of events.slice(at, at + EVENTS_OF_TURN)) {
        if (typeof event === 'number') written += `retry: ${event}\n`;
        else
          written += eventText({ ...event, data: (await standIns?.forEvent(event, brought)) ?? event.data });
      }
      yield Buffer.from(written);
    }
  };
}

function eventText({ id, event, data }: StreamEvent): string {
  const head = `${id === undefined ? '' : `id: ${id}\n`}${event === undefined ? '' : `event: ${event}\n`}`;
  return `${head}data: ${data.replaceAll('\n', '\ndata: ')}\n\n`;
}
