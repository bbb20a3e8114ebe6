/**
 * Events of the runtime, serialized once for all subscribers. The last events are kept for clients that reconnect.
 * Without subscribers, and a while after the last one, it does not listen to the runtime, so that calls pay nothing.
 */
import { type Runtime, type RuntimeEvents, TurnbuckleError } from 'turnbuckle';
import { withoutFiles } from '../../identity/without-file.js';
import type { PartEventFeed } from '../../parts/part-events.js';

import { type VisibilityTarget, wasFound } from '../visibility.js';
import { forReadAccess, redactAndTruncate, toEventData } from './event-data.js';
import { EVENT_NAMES, type EventName } from './event-names.js';

export interface FeedOptions {
  readonly runtime: Pick<Runtime, 'on' | 'redact'>;
  /** The events of parts. They belong to no server. */
  readonly parts?: Pick<PartEventFeed, 'listen'> | undefined;
  /** Distinguishes the ids of this process from those of an earlier one. */
  readonly epoch: string;
  readonly now?: (() => number) | undefined;
  /** How many events are kept for clients that reconnect (500). */
  readonly keep?: number | undefined;
  /** How long it keeps listening after the last subscriber left (5 minutes). */
  readonly lingerMs?: number | undefined;
}

export interface FeedEvent {
  readonly name: string;
  /** The server and item it is about; undefined if it belongs to no server. */
  readonly subject: VisibilityTarget | undefined;
  /** The text for tokens that may manage servers. */
  readonly text: string;
  /** The text for tokens that may only read; undefined: not sent. */
  readonly readAccessText: string | undefined;
}

export type Subscriber = (event: FeedEvent) => void;

/** The events for a client that reconnects. */
export interface MissedEvents {
  /** Some of the events since then are no longer kept. */
  readonly missed: boolean;
  readonly events: readonly FeedEvent[];
}

const DEFAULT_KEPT_EVENTS = 500;
const LINGER_MS = 5 * 60_000;

export class EventFeed {
  readonly #options: FeedOptions;
  readonly #keep: number;
  readonly #subscribers = new Set<Subscriber>();
  #kept: FeedEvent[] = [];
  /** The number of the last event; each period without listening skips one number. */
  #last = 0;
  #stops: (() => void)[] = [];
  #timer: NodeJS.Timeout | undefined;

  constructor(options: FeedOptions) {
    this.#options = options;
    this.#keep = options.keep ?? DEFAULT_KEPT_EVENTS;
  }

  get subscriberCount(): number {
    return this.#subscribers.size;
  }

  get isListening(): boolean {
    return this.#stops.length > 0;
  }

  /** Passes all events from now on to the subscriber; returns a function that unsubscribes. */
  subscribe(follower: Subscriber): () => void {
    clearTimeout(this.#timer);
    if (!this.isListening) this.#listen();
    this.#subscribers.add(follower);
    return () => {
      if (!this.#subscribers.delete(follower) || this.#subscribers.size > 0) return;
      this.#timer = setTimeout(() => this.#stopListening(), this.#options.lingerMs ?? LINGER_MS).unref();
    };
  }

  /** The events after the one with this id. None without an id. */
  since(id: string | undefined): MissedEvents {
    if (id === undefined || id === '') return { missed: false, events: [] };
    const [, epoch, digits] = /^([\da-z]+)-(\d{1,15})$/.exec(id) ?? [];
    const number = epoch === this.#options.epoch ? Number(digits) : -1;
    const first = this.#last - this.#kept.length;
    if (number < first || number > this.#last) return { missed: true, events: this.#kept };
    return { missed: false, events: this.#kept.slice(number - first) };
  }

  #listen(): void {
    this.#last += 1;
    const { runtime, parts } = this.#options;
    this.#stops = EVENT_NAMES.map((name) => runtime.on(name, (event) => this.#publish(name, event)));
    if (parts !== undefined) this.#stops.push(parts.listen((name, data) => this.#publishPart(name, data)));
  }

  #stopListening(): void {
    for (const stop of this.#stops) stop();
    this.#stops = [];
    this.#kept = [];
  }

  #publish<Name extends EventName>(name: Name, event: RuntimeEvents[Name]): void {
    const { runtime } = this.#options;
    const redact = (value: unknown): unknown => runtime.redact(value);
    const data = toEventData(name, event, redact);
    const textOf = this.#writer(name);
    const text = textOf(data);
    const open = withoutFiles(event);
    const part = forReadAccess(name, open === event ? data : toEventData(name, open, redact));
    this.#pass({
      name,
      subject: subjectOf(name, event),
      text,
      readAccessText: part === data ? text : part === undefined ? undefined : textOf(part),
    });
  }

  #publishPart(name: string, event: object): void {
    const { runtime } = this.#options;
    const text = this.#writer(name)(redactAndTruncate(event, (value) => runtime.redact(value)));
    // What a part tells of the work of others is for whoever may use its routes.
    this.#pass({ name, subject: undefined, text, readAccessText: undefined });
  }

  /** Gives the event its number and its time. */
  #writer(name: string): (sent: unknown) => string {
    const { epoch, now = Date.now } = this.#options;
    this.#last += 1;
    const at = new Date(now()).toISOString();
    return (sent) =>
      `id: ${epoch}-${this.#last}\nevent: ${name}\ndata: ${JSON.stringify({ type: name, at, data: sent })}\n\n`;
  }

  #pass(fed: FeedEvent): void {
    this.#kept.push(fed);
    if (this.#kept.length > this.#keep) this.#kept.shift();
    for (const follower of this.#subscribers) follower(fed);
  }
}

const KINDS: ReadonlyMap<string, VisibilityTarget['kind']> = new Map([
  ['tool', 'tool'],
  ['resource', 'resource'],
  ['prompt', 'prompt'],
]);

function subjectOf(name: EventName, event: object): VisibilityTarget | undefined {
  const { server, tool, kind, decision, error } = event as Readonly<Record<string, unknown>>;
  if (typeof server !== 'string') return undefined;
  return {
    server,
    tool: typeof tool === 'string' ? tool : undefined,
    kind: typeof kind === 'string' ? KINDS.get(kind) : undefined,
    ...(name === 'call.settled' && {
      wasFound: wasFound({
        decision: typeof decision === 'string' ? decision : undefined,
        code: error instanceof TurnbuckleError ? error.code : undefined,
      }),
    }),
  };
}
