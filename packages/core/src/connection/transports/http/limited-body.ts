/** Limits the size of a response body: in total, or for an event stream between two events. */
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises';
import { GrowingBuffer } from '../../../fetching/growing-buffer.js';
import type { LargeMessages, StreamReferences } from '../../handshake/large-messages.js';
import { chunkCost, type FloodMeter } from '../../protocol/flood-meter.js';
import { EventLines } from './event-lines.js';
import { EventReader, type StreamEvent } from './event-reader.js';
import type { WireMeter } from './wire-meter.js';

export interface BodyLimits {
  readonly maxBytes: number;
  /** The error of a body that exceeds the limit. */
  readonly onExceeded: () => Error;
  /** Measures an event stream, which has no end. */
  readonly flood?: FloodMeter | undefined;
  readonly wire?: WireMeter | undefined;
  /** For a reader that would parse a large message in one go. */
  readonly largeMessages?: LargeMessages | undefined;
}

/** The same response with a body that fails once it exceeds the limit. */
export function limitBody(
  response: Response,
  { maxBytes, onExceeded, flood, wire, largeMessages }: BodyLimits,
): Response {
  if (response.body === null) return response;
  const perEvent = response.headers.get('content-type')?.includes('text/event-stream') ?? false;
  const held = perEvent ? new EventLines() : new GrowingBuffer();
  const brought: StreamReferences = { ids: new Set(), isEnded: false };
  const rewrite = perEvent ? rewriteEvents(largeMessages, brought) : undefined;
  const limited = new TransformStream<Uint8Array, Uint8Array>({
    async transform(chunk, controller) {
      wire?.payload(chunk.length);
      const ready = held.push(chunk);
      if (held.length > maxBytes) return controller.error(onExceeded());
      if (rewrite === undefined) {
        if (ready !== undefined) controller.enqueue(ready);
        return;
      }
      // The reader takes everything without a pause; a flood must not block other work.
      for await (const events of rewrite(ready)) {
        controller.enqueue(events);
        await nextTurn();
      }
      await nextTurn();
      if (ready === undefined) return;
      // An event is measured when it is complete: it may be a response, which does not count.
      const pauseMs = flood?.record(chunkCost(ready)) ?? 0;
      if (pauseMs > 0) await delay(pauseMs, undefined, { ref: false });
    },
    flush(controller) {
      // An incomplete line is not an event.
      if (held.length > 0 && rewrite === undefined) controller.enqueue(held.take());
    },
  });
  const counted = limited.readable;
  response.body.pipeTo(limited.writable).catch(async () => {
    // What is on its way to the reader is delivered now, or never.
    await nextTurn();
    largeMessages?.release(brought);
  });
  const text = (): Promise<string> => new Response(counted).text();
  return new Proxy(response, {
    // A new Response would lose url, redirected and type, which the SDK reads.
    get(target, key) {
      if (key === 'body') return counted;
      if (key === 'text') return text;
      if (key === 'json')
        return async () =>
          largeMessages === undefined ? JSON.parse(await text()) : largeMessages.parseBody(await text());
      const value: unknown = Reflect.get(target, key, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

type RewriteEvents = (lines: Uint8Array | undefined) => AsyncGenerator<Uint8Array>;

/** The number delivered in one go. */
const EVENTS_PER_TURN = 64;

/**
 * The complete events in some lines, and nothing else: another reader might take too long over the rest. A large
 * message is replaced by its placeholder.
 */
function rewriteEvents(standIns: LargeMessages | undefined, brought: StreamReferences): RewriteEvents {
  let events: (StreamEvent | number)[] = [];
  const reader = new EventReader({
    onEvent: (event) => void events.push(event),
    onRetry: (ms) => void events.push(ms),
  });
  return async function* (lines) {
    events = [];
    if (lines !== undefined) reader.read(lines);
    for (let at = 0; at < events.length; at += EVENTS_PER_TURN) {
      let written = '';
      for (const event of events.slice(at, at + EVENTS_PER_TURN)) {
        if (typeof event === 'number') written += `retry: ${event}\n`;
        else
          written += eventText({
            ...event,
            data: (await standIns?.replaceEventData(event, brought)) ?? event.data,
          });
      }
      yield Buffer.from(written);
    }
  };
}

function eventText({ id, event, data }: StreamEvent): string {
  const head = `${id === undefined ? '' : `id: ${id}\n`}${event === undefined ? '' : `event: ${event}\n`}`;
  return `${head}data: ${data.replaceAll('\n', '\ndata: ')}\n\n`;
}
