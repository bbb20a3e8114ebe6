/** What servers offer beside tools: their resources, templates and prompts, for the host or for one of its callers. */
import type { CallGuard } from './call-guard.js';
import { checkOptions, type WaitLimits } from './call-request.js';
import type { Catalog, ListKind } from './catalog/catalog.js';
import type { Discovery } from './catalog/discovery.js';
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
  readonly now: () => number;
}

/** By what an entry of each kind is called. */
const NAMED_BY: Readonly<Record<OfferedKind, string>> = {
  resources: 'uri',
  templates: 'uriTemplate',
  prompts: 'name',
};

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

  constructor(options: OfferingsOptions) {
    this.#options = options;
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
    const clock = new CallClock(limits);
    const wait = (server: Server, items: Promise<Listed<Item>[]>): Promise<Listed<Item>[]> =>
      clock.until(items, { what: `its ${kind}`, server: server.name, signal: limits.signal, begun: true });
    if (caller === undefined && name !== undefined) {
      const server = this.#options.servers.require(name);
      return wait(server, this.#of(kind, server));
    }
    // A server that the caller may not know of has nothing to offer, like one that is not there.
    const all = await this.#ofAll<Item>(kind, wait);
    if (caller === undefined) return all;
    return all.filter(
      (item) => (name === undefined || item.server === name) && this.#isFor(caller, kind, item),
    );
  }

  /** One failure is no matter of the others. */
  async #ofAll<Item>(
    kind: OfferedKind,
    wait: (server: Server, items: Promise<Listed<Item>[]>) => Promise<Listed<Item>[]>,
  ): Promise<Listed<Item>[]> {
    const lists = this.#options.servers.live().map((server) => {
      const items = wait(server, this.#of<Item>(kind, server)).catch(() => []);
      // One that is silent is asked again, but not waited for each time.
      return this.#hasFailed(kind, server) ? this.#known<Item>(kind, server) : items;
    });
    return (await Promise.all(lists)).flat();
  }

  async #of<Item>(kind: OfferedKind, server: Server): Promise<Listed<Item>[]> {
    const { catalog, discovery, now } = this.#options;
    const { name, connection, config } = server;
    if (catalog.stateOf(name, kind, now()) !== 'ready') {
      try {
        await discovery.read(name, kind, { link: await connection.open(), settings: config });
        this.#failedAt.delete(keyOf(kind, server));
      } catch (error) {
        this.#failedAt.set(keyOf(kind, server), now());
        throw error;
      }
    }
    return this.#known(kind, server);
  }

  #hasFailed(kind: OfferedKind, server: Server): boolean {
    const { catalog, now } = this.#options;
    const at = this.#failedAt.get(keyOf(kind, server)) ?? Number.NEGATIVE_INFINITY;
    return now() - at < PAUSE_MS && catalog.stateOf(server.name, kind, now()) !== 'ready';
  }

  /** The name of each item was checked when it was read; the rest of it is the server's word. */
  #known<Item>(kind: OfferedKind, { name }: Server): Listed<Item>[] {
    return this.#options.catalog
      .items(name, kind)
      .map(({ server, definition }) => ({ ...definition, server }) as Listed<Item>);
  }

  #isFor(caller: Caller, kind: OfferedKind, item: Listed<unknown>): boolean {
    const named: unknown = Reflect.get(item, NAMED_BY[kind]);
    return this.#options.guard.offers(caller, {
      server: item.server,
      tool: String(named),
      kind: kind === 'prompts' ? 'prompt' : 'resource',
    });
  }
}

const keyOf = (kind: OfferedKind, { name }: Server): string => `${kind} ${name}`;
