/** What servers offer beside tools: their resources, templates and prompts, for the host or for one of its callers. */
import type { CallGuard } from './call-guard.js';
import type { Catalog, ListKind } from './catalog/catalog.js';
import type { Discovery } from './catalog/discovery.js';
import type { Caller } from './policy/capabilities.js';
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

export class Offerings {
  readonly #options: OfferingsOptions;

  constructor(options: OfferingsOptions) {
    this.#options = options;
  }

  /** Of one server or of all that are up; with a caller only what that caller may know of. */
  async list<Item>(
    kind: OfferedKind,
    name: string | undefined,
    caller: Caller | undefined,
  ): Promise<Listed<Item>[]> {
    if (caller === undefined)
      return name === undefined ? this.#ofAll(kind) : this.#of(kind, this.#require(name));
    // A server that the caller may not know of has nothing to offer, like one that is not there.
    const all = await this.#ofAll<Item>(kind);
    return all.filter(
      (item) => (name === undefined || item.server === name) && this.#isFor(caller, kind, item),
    );
  }

  #require(name: string): Server {
    return this.#options.servers.require(name);
  }

  /** One failure is no matter of the others. */
  async #ofAll<Item>(kind: OfferedKind): Promise<Listed<Item>[]> {
    const servers = this.#options.servers.live();
    const lists = await Promise.all(servers.map((server) => this.#of<Item>(kind, server).catch(() => [])));
    return lists.flat();
  }

  async #of<Item>(kind: OfferedKind, { name, connection, config }: Server): Promise<Listed<Item>[]> {
    const { catalog, discovery, now } = this.#options;
    if (catalog.stateOf(name, kind, now()) !== 'ready')
      await discovery.read(name, kind, { link: await connection.open(), settings: config });
    // The name of each item was checked when it was read; the rest of it is the server's word.
    return catalog
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
