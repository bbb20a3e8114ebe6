/** What servers offer beside tools: their resources, templates and prompts, for the host or for one of its callers. */
import type { CallGuard } from './call-guard.js';
import { checkOptions, type WaitLimits } from './call-request.js';
import type { Catalog, CatalogItem, ListKind } from './catalog/catalog.js';
import type { Discovery } from './catalog/discovery.js';
import type { CatalogTool } from './catalog/tool.js';
import type { Events } from './events.js';
import { inSlices, type Steps } from './json/slices.js';
import { KeptLists, type ListStamp } from './kept-lists.js';
import type { Caller } from './policy/capabilities.js';
import { CallClock } from './resilience/call-clock.js';
import type { Server } from './server.js';
import type { ServerSet } from './server-set.js';

/** An entry of a list, as its server wrote it, plus whose it is. */
export type Listed<Item> = Item & { readonly server: string };

export type OfferedKind = Exclude<ListKind, 'tools'>;

export interface OfferingsOptions {
  readonly catalog: Catalog;
  readonly discovery: Discovery;
  readonly servers: ServerSet;
  readonly guard: CallGuard;
  readonly events: Events;
  readonly now: () => number;
}

/** So long nobody but who names it waits for a server that did not give its list. */
const PAUSE_MS = 30_000;

/** Whose list is wanted, by whom, and how long they wait. */
export interface ListWish {
  readonly server?: string | undefined;
  readonly caller?: Caller | undefined;
  readonly limits?: WaitLimits | undefined;
}

export class Offerings {
  readonly #options: OfferingsOptions;
  readonly #failedAt = new Map<string, number>();
  readonly #items: Readonly<Record<OfferedKind, KeptLists<CatalogItem>>>;
  readonly #tools: KeptLists<CatalogTool>;
  /** What a capability means depends on which servers there are, up or not. */
  #serverChanges = 0;

  constructor(options: OfferingsOptions) {
    this.#options = options;
    const { catalog, guard, events } = options;
    this.#items = {
      resources: this.#keep('resources'),
      templates: this.#keep('templates'),
      prompts: this.#keep('prompts'),
    };
    this.#tools = new KeptLists({
      stamp: () => ({ key: this.#version, isComplete: true }),
      entries: () => catalog.list(),
      isFor: (caller, tool) => guard.shows(caller, tool),
    });
    const count = (): void => {
      this.#serverChanges += 1;
    };
    events.on('server.added', count);
    events.on('server.removed', count);
  }

  /**
   * Of one server or of all that are up; with a caller only what that caller may know of. CALL_TIMEOUT and CALL_CANCELLED
   * by the limits; of all servers, those that take longer are left out.
   */
  async list<Item>(
    kind: OfferedKind,
    { server: name, caller, limits = {} }: ListWish,
  ): Promise<Listed<Item>[]> {
    checkOptions(limits);
    if (caller === undefined && name !== undefined) {
      const server = this.#options.servers.require(name);
      await this.#wait(kind, { server, limits }, new CallClock(limits));
      return inSlices(listed<Item>(this.#options.catalog.items(name, kind)));
    }
    // A server that the caller may not know of has nothing to offer, like one that is not there.
    const all = await this.visible(kind, caller, limits);
    return inSlices(listed<Item>(name === undefined ? all : all.filter(({ server }) => server === name)));
  }

  /** What a caller, or without one the host, may know of all that are up: the same array until something changes. */
  visible(kind: OfferedKind, caller?: Caller, limits: WaitLimits = {}): Promise<readonly CatalogItem[]> {
    return this.#items[kind].of(caller, () => this.#readAll(kind, limits));
  }

  /** The same of tools. Nothing is waited for. */
  visibleTools(caller: Caller): Promise<readonly CatalogTool[]> {
    return this.#tools.of(caller);
  }

  #keep(kind: OfferedKind): KeptLists<CatalogItem> {
    const { catalog, servers, guard } = this.#options;
    return new KeptLists({
      stamp: () => this.#stamp(kind),
      entries: () => servers.live().flatMap(({ name }) => catalog.items(name, kind)),
      isFor: (caller, { server, key }) =>
        guard.offers(caller, { server, tool: key, kind: kind === 'prompts' ? 'prompt' : 'resource' }),
    });
  }

  /** With what is known of each: a list that has run out, or was never read, is missing. */
  #stamp(kind: OfferedKind): ListStamp {
    const { catalog, servers, now } = this.#options;
    let key = this.#version;
    let isComplete = true;
    for (const { name } of servers.live()) {
      const state = catalog.stateOf(name, kind, now());
      if (state !== 'ready') isComplete = false;
      key += ` ${state === 'populating' ? 'empty' : state} ${name}`;
    }
    return { key, isComplete };
  }

  /** None of these ever goes back. */
  get #version(): string {
    const { catalog, guard } = this.#options;
    return String(catalog.version + guard.version + this.#serverChanges);
  }

  /** One failure is no matter of the others. */
  async #readAll(kind: OfferedKind, limits: WaitLimits): Promise<void> {
    const clock = new CallClock(limits);
    const reading = this.#options.servers.live().map((server) => {
      const read = this.#wait(kind, { server, limits }, clock).catch(() => {});
      // One that is silent is asked again, but not waited for each time.
      return this.#hasFailed(kind, server) ? undefined : read;
    });
    await Promise.all(reading);
  }

  #wait(
    kind: OfferedKind,
    { server, limits }: { readonly server: Server; readonly limits: WaitLimits },
    clock: CallClock,
  ): Promise<void> {
    const { name } = server;
    return clock.until(this.#read(kind, server), {
      what: `its ${kind}`,
      server: name,
      signal: limits.signal,
      begun: true,
    });
  }

  async #read(kind: OfferedKind, server: Server): Promise<void> {
    const { catalog, discovery, now } = this.#options;
    const { name, connection, config } = server;
    if (catalog.stateOf(name, kind, now()) === 'ready') return;
    try {
      await discovery.read(name, kind, { link: await connection.open(), settings: config });
      this.#failedAt.delete(keyOf(kind, server));
    } catch (error) {
      this.#failedAt.set(keyOf(kind, server), now());
      throw error;
    }
  }

  #hasFailed(kind: OfferedKind, server: Server): boolean {
    const { catalog, now } = this.#options;
    const at = this.#failedAt.get(keyOf(kind, server)) ?? Number.NEGATIVE_INFINITY;
    return now() - at < PAUSE_MS && catalog.stateOf(server.name, kind, now()) !== 'ready';
  }
}

/** The name of each item was checked when it was read; the rest of it is the server's word. */
function* listed<Item>(items: readonly CatalogItem[]): Steps<Listed<Item>[]> {
  const list: Listed<Item>[] = [];
  for (const { server, definition } of items) {
    list.push({ ...definition, server } as Listed<Item>);
    yield;
  }
  return list;
}

const keyOf = (kind: OfferedKind, { name }: Server): string => `${kind} ${name}`;
