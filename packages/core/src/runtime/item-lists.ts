/** The resources, templates and prompts of servers, for the host or for one of its callers. */

import type { EffectivePolicy } from '../calls/authorization/effective-policy.js';
import type { Visibility } from '../calls/authorization/visibility.js';
import { checkOptions, type WaitLimits } from '../calls/call-request.js';
import type { Catalog, CatalogItem, ListKind } from '../catalog/catalog.js';
import type { Discovery } from '../catalog/discovery.js';
import type { CatalogTool } from '../catalog/tool.js';
import type { Events } from '../events.js';
import { inSlices, type Steps } from '../json/slices.js';
import type { Caller } from '../policy/capabilities.js';
import { CallClock } from '../resilience/call-clock.js';
import type { Server } from '../servers/server.js';
import type { ServerSet } from '../servers/server-set.js';
import { ListCache, type ListStamp } from './list-cache.js';

/** An entry of a list, exactly as its server wrote it, plus the server's name. */
export type Listed<Item> = Item & { readonly server: string };

export type ItemKind = Exclude<ListKind, 'tools'>;

export interface ItemListsOptions {
  readonly catalog: Catalog;
  readonly discovery: Discovery;
  readonly servers: ServerSet;
  readonly visibility: Visibility;
  readonly policy: EffectivePolicy;
  readonly events: Events;
  readonly monotonicNow: () => number;
}

/** How long a server whose list failed is skipped, unless it is named. */
const FAILURE_COOLDOWN_MS = 30_000;

/** Which list, for whom, and the time limits. */
export interface ListQuery {
  readonly server?: string | undefined;
  readonly caller?: Caller | undefined;
  readonly limits?: WaitLimits | undefined;
}

export class ItemLists {
  readonly #options: ItemListsOptions;
  readonly #failedAt = new Map<string, number>();
  readonly #items: Readonly<Record<ItemKind, ListCache<CatalogItem>>>;
  readonly #tools: ListCache<CatalogTool>;
  /** Capabilities depend on which servers exist, connected or not. */
  #serverChanges = 0;

  constructor(options: ItemListsOptions) {
    this.#options = options;
    const { catalog, visibility, events } = options;
    this.#items = {
      resources: this.#createCache('resources'),
      templates: this.#createCache('templates'),
      prompts: this.#createCache('prompts'),
    };
    this.#tools = new ListCache({
      stamp: () => ({ key: this.#version, isComplete: true }),
      entries: () => catalog.list(),
      isVisible: (caller, tool) => visibility.canSeeTool(caller, tool),
    });
    const count = (): void => {
      this.#serverChanges += 1;
    };
    events.on('server.added', count);
    events.on('server.removed', count);
  }

  /**
   * The items of one server or of all connected ones; with a caller only those it can see. CALL_TIMEOUT and
   * CALL_CANCELLED by the limits; for all servers, slow ones are left out.
   */
  async list<Item>(kind: ItemKind, query: ListQuery): Promise<Listed<Item>[]> {
    return inSlices(toListed<Item>(await this.find(kind, query)));
  }

  /** The same, as they are in the catalog. Without a server the array is the same until something changes. */
  async find(
    kind: ItemKind,
    { server: name, caller, limits = {} }: ListQuery,
  ): Promise<readonly CatalogItem[]> {
    checkOptions(limits);
    if (caller === undefined && name !== undefined) {
      const server = this.#options.servers.requireEnabled(name);
      await this.#wait(kind, { server, limits }, new CallClock(limits));
      return this.#options.catalog.items(name, kind);
    }
    // A hidden server has no items, like one that does not exist.
    const all = await this.visible(kind, caller, limits);
    return name === undefined ? all : all.filter(({ server }) => server === name);
  }

  /** Reads the lists of a server again: its tools, and all other lists that were read before. */
  async refresh({ name, connection, config }: Server): Promise<void> {
    const { catalog, discovery, monotonicNow } = this.#options;
    const link = await connection.open();
    const isKnown = (kind: ListKind): boolean =>
      kind === 'tools' || catalog.stateOf(name, kind, monotonicNow()) !== 'empty';
    const kinds: ListKind[] = ['tools', 'resources', 'templates', 'prompts'];
    const reading = kinds
      .filter(isKnown)
      .map((kind) => discovery.read(name, kind, { link, settings: config }));
    await Promise.all(reading);
  }

  /**
   * The items of all connected servers that a caller, or the host, can see: the same array until something changes.
   */
  visible(kind: ItemKind, caller?: Caller, limits: WaitLimits = {}): Promise<readonly CatalogItem[]> {
    return this.#items[kind].get(caller, () => this.#readAll(kind, limits));
  }

  /** The same for tools, without waiting. */
  visibleTools(caller: Caller): Promise<readonly CatalogTool[]> {
    return this.#tools.get(caller);
  }

  #createCache(kind: ItemKind): ListCache<CatalogItem> {
    const { catalog, servers, visibility } = this.#options;
    return new ListCache({
      stamp: () => this.#stamp(kind),
      entries: () => servers.live().flatMap(({ name }) => catalog.items(name, kind)),
      isVisible: (caller, { server, key }) =>
        visibility.canSeeItem(caller, {
          server,
          tool: key,
          kind: kind === 'prompts' ? 'prompt' : 'resource',
        }),
    });
  }

  /** A list that expired or was never read counts as missing. */
  #stamp(kind: ItemKind): ListStamp {
    const { catalog, servers, monotonicNow } = this.#options;
    let key = this.#version;
    let isComplete = true;
    for (const { name } of servers.live()) {
      const state = catalog.stateOf(name, kind, monotonicNow());
      if (state !== 'ready') isComplete = false;
      key += ` ${state === 'populating' ? 'empty' : state} ${name}`;
    }
    return { key, isComplete };
  }

  /** These only increase. */
  get #version(): string {
    const { catalog, policy } = this.#options;
    return String(catalog.version + policy.ruleVersion + this.#serverChanges);
  }

  /** A failure does not affect the others. */
  async #readAll(kind: ItemKind, limits: WaitLimits): Promise<void> {
    const clock = new CallClock(limits);
    const reading = this.#options.servers.live().map((server) => {
      const read = this.#wait(kind, { server, limits }, clock).catch(() => {});
      // A server that failed is asked again, but not waited for.
      return this.#hasFailed(kind, server) ? undefined : read;
    });
    await Promise.all(reading);
  }

  #wait(
    kind: ItemKind,
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

  async #read(kind: ItemKind, server: Server): Promise<void> {
    const { catalog, discovery, monotonicNow } = this.#options;
    const { name, connection, config } = server;
    if (catalog.stateOf(name, kind, monotonicNow()) === 'ready') return;
    try {
      await discovery.read(name, kind, { link: await connection.open(), settings: config });
      this.#failedAt.delete(keyOf(kind, server));
    } catch (error) {
      this.#failedAt.set(keyOf(kind, server), monotonicNow());
      throw error;
    }
  }

  #hasFailed(kind: ItemKind, server: Server): boolean {
    const { catalog, monotonicNow } = this.#options;
    const at = this.#failedAt.get(keyOf(kind, server)) ?? Number.NEGATIVE_INFINITY;
    return (
      monotonicNow() - at < FAILURE_COOLDOWN_MS &&
      catalog.stateOf(server.name, kind, monotonicNow()) !== 'ready'
    );
  }
}

/** Each name was validated when it was read; the rest is untrusted. */
function* toListed<Item>(items: readonly CatalogItem[]): Steps<Listed<Item>[]> {
  const list: Listed<Item>[] = [];
  for (const { server, definition } of items) {
    list.push({ ...definition, server } as Listed<Item>);
    yield;
  }
  return list;
}

const keyOf = (kind: ItemKind, { name }: Server): string => `${kind} ${name}`;
