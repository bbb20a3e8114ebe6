/**
 * What happens in the runtime, made into text once for all who follow it. The last events are kept for who comes
 * back. While nobody follows, and for a while nobody has, it does not listen: then it costs calls nothing.
 */
import { type Runtime, type RuntimeEvents, TurnbuckleError } from 'turnbuckle';
import { type Seen, wasFound } from '../sight.js';
import { forLooking, toEventData } from './event-data.js';
import { EVENT_NAMES, type EventName } from './event-names.js';

export interface FeedOptions {
  readonly runtime: Pick<Runtime, 'on' | 'redact'>;
  /** Tells the ids of this process from those of an earlier one. */
  readonly epoch: string;
  readonly now?: (() => number) | undefined;
  /** How many events are kept for who comes back (500). */
  readonly keep?: number | undefined;
  /** How long after the last one left it still listens (5 minutes). */
  readonly lingerMs?: number | undefined;
}

export interface FedEvent {
  readonly name: EventName;
  /** Whose it is; undefined for what belongs to no server. */
  readonly about: Seen | undefined;
  /** As it is sent to who may manage the servers. */
  readonly text: string;
  /** As it is sent to who may only look; undefined: not at all. */
  readonly lookText: string | undefined;
}

export type Follower = (event: FedEvent) => void;

/** What there is for who comes back. */
export interface Caught {
  /** Some of what happened since is not kept any more. */
  readonly missed: boolean;
  readonly events: readonly FedEvent[];
}

const KEEP = 500;
const LINGER_MS = 5 * 60_000;

export class EventFeed {
  readonly #options: FeedOptions;
  readonly #keep: number;
  readonly #followers = new Set<Follower>();
  #kept: FedEvent[] = [];
  /** The number of the last event; one is left out for each time in which it did not listen. */
  #last = 0;
  #stops: (() => void)[] = [];
  #timer: NodeJS.Timeout | undefined;

  constructor(options: FeedOptions) {
    this.#options = options;
    this.#keep = options.keep ?? KEEP;
  }

  get followers(): number {
    return this.#followers.size;
  }

  get isListening(): boolean {
    return this.#stops.length > 0;
  }

  /** Tells the follower of everything from now on; returns the function that ends it. */
  follow(follower: Follower): () => void {
    clearTimeout(this.#timer);
    if (!this.isListening) this.#listen();
    this.#followers.add(follower);
    return () => {
      if (!this.#followers.delete(follower) || this.#followers.size > 0) return;
      this.#timer = setTimeout(() => this.#rest(), this.#options.lingerMs ?? LINGER_MS).unref();
    };
  }

  /** What happened after the event of that id. Nothing for who brings none. */
  since(id: string | undefined): Caught {
    if (id === undefined || id === '') return { missed: false, events: [] };
    const [, epoch, digits] = /^([\da-z]+)-(\d{1,15})$/.exec(id) ?? [];
    const number = epoch === this.#options.epoch ? Number(digits) : -1;
    const first = this.#last - this.#kept.length;
    if (number < first || number > this.#last) return { missed: true, events: this.#kept };
    return { missed: false, events: this.#kept.slice(number - first) };
  }

  #listen(): void {
    this.#last += 1;
    const { runtime } = this.#options;
    this.#stops = EVENT_NAMES.map((name) => runtime.on(name, (event) => this.#tell(name, event)));
  }

  #rest(): void {
    for (const stop of this.#stops) stop();
    this.#stops = [];
    this.#kept = [];
  }

  #tell<Name extends EventName>(name: Name, event: RuntimeEvents[Name]): void {
    const { runtime, epoch, now = Date.now } = this.#options;
    this.#last += 1;
    const data = toEventData(name, event, (value) => runtime.redact(value));
    const at = new Date(now()).toISOString();
    const textOf = (told: unknown): string =>
      `id: ${epoch}-${this.#last}\nevent: ${name}\ndata: ${JSON.stringify({ type: name, at, data: told })}\n\n`;
    const text = textOf(data);
    const part = forLooking(name, data);
    const fed = {
      name,
      about: aboutOf(name, event),
      text,
      lookText: part === data ? text : part === undefined ? undefined : textOf(part),
    };
    this.#kept.push(fed);
    if (this.#kept.length > this.#keep) this.#kept.shift();
    for (const follower of this.#followers) follower(fed);
  }
}

const KINDS: ReadonlyMap<string, Seen['kind']> = new Map([
  ['tool', 'tool'],
  ['resource', 'resource'],
  ['prompt', 'prompt'],
]);

function aboutOf(name: EventName, event: object): Seen | undefined {
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
