/**
 * Reads the lists of a server into the catalog: tools on every new link, resources and prompts on first use, and all
 * of them again on a notification, after expiry, or on demand. Concurrent readings are merged.
 */
import type { Link } from '../connection/link.js';
import type { Events, RuntimeEvents } from '../events.js';
import { isRecord } from '../json/is-record.js';
import { isSameJson } from '../json/same-json.js';
import { inSlices, type Steps } from '../json/slices.js';
import { hasMorePartsThan } from '../json/write-large.js';
import type { Catalog, CatalogItem, ListKind } from './catalog.js';
import type { ToolsRead } from './dedicated-tools.js';
import { CatalogBudget, type ListBudget, type ListLimits } from './list-budget.js';
import { type Listing, type ListRequest, labelOf, readListing, TooDeep, TooLarge } from './listing.js';
import { RelistScheduler } from './relist-scheduler.js';
import { type CatalogTool, type ReadToolOptions, readTool } from './tool.js';

/** The list settings of a server's configuration. */
export interface ListSettings {
  readonly listTimeoutMs: number;
  /** How long a list is fresh, whatever the server says. */
  readonly listTtlMs?: number | undefined;
  readonly includeTools?: readonly string[] | undefined;
  readonly excludeTools: readonly string[];
}

export interface DiscoveryOptions {
  readonly catalog: Catalog;
  readonly events: Events;
  readonly monotonicNow: () => number;
  readonly toolOptions: Pick<ReadToolOptions, 'naming' | 'describePrefix' | 'limits'>;
  readonly maxPages: number;
  readonly maxItems: number;
  readonly maxDepth: number;
  readonly listLimits: ListLimits;
  /** Whether this is still the server with that name: it may have been replaced while a list was read. */
  readonly isKnown: (server: string, settings: ListSettings) => boolean;
  /** Prepares each tool before the list is applied, because that takes time. */
  readonly prepare?: (tool: CatalogTool) => void;
  /** The tools that a server listed with the credentials of an agent were read. */
  readonly onAgentTools?: (
    list: { readonly server: string; readonly agent: string },
    tools: ToolsRead['tools'],
  ) => void;
}

interface ListSource {
  readonly link: () => Link | undefined;
  readonly settings: ListSettings;
}

/** The link to read from, and the reason; without one, on demand. */
export interface ListReadOptions {
  readonly link: Link;
  readonly settings: ListSettings;
  readonly reason?: RuntimeEvents['catalog.read']['reason'];
}

/** A reading in progress. */
interface PendingRead {
  readonly link: Link;
  done: Promise<void>;
}

interface ListSpec {
  readonly method: ListRequest['method'];
  readonly key: ListRequest['key'];
  /** The capability that a server needs to have this list. */
  readonly capability: 'tools' | 'resources' | 'prompts';
  /** The field that identifies an entry. */
  readonly name: string;
}

const LIST_SPECS: Readonly<Record<ListKind, ListSpec>> = {
  tools: { method: 'tools/list', key: 'tools', capability: 'tools', name: 'name' },
  resources: { method: 'resources/list', key: 'resources', capability: 'resources', name: 'uri' },
  templates: {
    method: 'resources/templates/list',
    key: 'resourceTemplates',
    capability: 'resources',
    name: 'uriTemplate',
  },
  prompts: { method: 'prompts/list', key: 'prompts', capability: 'prompts', name: 'name' },
};

/** A map, because servers choose the method names, and every object has a `constructor`. */
const CHANGE_NOTIFICATIONS: ReadonlyMap<string, readonly ListKind[]> = new Map([
  ['notifications/tools/list_changed', ['tools']],
  ['notifications/resources/list_changed', ['resources', 'templates']],
  ['notifications/prompts/list_changed', ['prompts']],
]);

const TOO_DEEP = 'its definition is nested too deeply';

const keyOf = (server: string, kind: ListKind): string => JSON.stringify([server, kind]);

/** Readings that take longer, or lists with more parts, count as expensive. */
const EXPENSIVE_READ_MS = 50;
const EXPENSIVE_READ_PARTS = 20_000;
/** Definitions listed for one agent or session only: there may be many of these connections. */
const MAX_DEDICATED_BYTES = 1_024 * 1_024;

export class Discovery {
  readonly #options: DiscoveryOptions;
  readonly #pendingReads = new Map<string, PendingRead>();
  readonly #relistSchedulers = new Map<string, RelistScheduler>();
  /** The most recent link of each server. */
  readonly #links = new Map<string, Link>();
  readonly #budget: CatalogBudget;

  constructor(options: DiscoveryOptions) {
    this.#options = options;
    this.#budget = new CatalogBudget(options.listLimits);
  }

  /** Reads the tools on a new link. Other lists are read again on the next use. */
  onOpened(server: string, link: Link, settings: ListSettings): Promise<void> {
    const { catalog, monotonicNow, isKnown } = this.#options;
    if (!isKnown(server, settings)) return Promise.resolve();
    this.#links.set(server, link);
    for (const kind of ['resources', 'templates', 'prompts'] as const)
      if (catalog.stateOf(server, kind, monotonicNow()) === 'ready') catalog.setState(server, kind, 'stale');
    return this.read(server, 'tools', { link, settings, reason: 'connected' });
  }

  /**
   * Reads a list now. Concurrent readings are merged, unless a new link has replaced the link of the other: then its
   * result is discarded, and its waiters get the list of the new link. Results of removed servers are discarded too.
   */
  read(server: string, kind: ListKind, reading: ListReadOptions): Promise<void> {
    const key = keyOf(server, kind);
    const running = this.#pendingReads.get(key);
    const isFresh = running?.link !== reading.link && this.#links.get(server) === reading.link;
    if (running !== undefined && !isFresh) return running.done;
    const { catalog, monotonicNow, isKnown } = this.#options;
    if (!isKnown(server, reading.settings)) return Promise.resolve();
    const before = catalog.stateOf(server, kind, monotonicNow());
    if (before === 'empty') catalog.setState(server, kind, 'populating');
    const reason = before === 'stale' ? 'stale' : 'asked';
    const own: PendingRead = { link: reading.link, done: Promise.resolve() };
    this.#pendingReads.set(key, own);
    const isCurrent = (): boolean =>
      this.#pendingReads.get(key) === own && this.#options.isKnown(server, reading.settings);
    let isKept = false;
    const work = this.#read(server, kind, { reason, ...reading, isCurrent }).then(() => {
      isKept = true;
    });
    own.done = work.finally(() => {
      const newer = this.#pendingReads.get(key);
      if (newer !== own) return newer?.done;
      this.#pendingReads.delete(key);
      this.#budget.end(server, kind, isKept);
      if (catalog.stateOf(server, kind, monotonicNow()) === 'populating')
        catalog.setState(server, kind, 'empty');
    });
    return own.done;
  }

  /** The tools of a dedicated link, which are in no list. `agent`: whose credentials it was opened with, if not the server's. */
  async readDedicatedTools(
    { name: server, agent }: { readonly name: string; readonly agent?: string | undefined },
    reading: ListReadOptions,
  ): Promise<ToolsRead> {
    const { link, settings } = reading;
    if (link.peer.capabilities.tools === undefined) return { tools: new Map(), isExpensive: false };
    const budget = this.#createDedicatedBudget(server);
    const listing = await this.#requestList(server, 'tools', { reason: 'asked', ...reading, budget });
    const started = performance.now();
    const read = await inSlices(this.#readTools(server, link, listing));
    const included = read.filter(({ tool }) => isIncluded(tool, settings));
    const { catalog, onAgentTools } = this.#options;
    const tools = new Map(included.map((tool) => [tool.tool, catalog.withFlags(tool)]));
    if (agent !== undefined) onAgentTools?.({ server, agent }, tools);
    return { tools, isExpensive: isExpensiveRead(listing, started) };
  }

  /** Reads a changed list after a short delay; true if the notification was about a list. */
  onNotification(server: string, method: string, source: ListSource): boolean {
    const kinds = CHANGE_NOTIFICATIONS.get(method);
    if (kinds === undefined) return false;
    const { catalog, monotonicNow, isKnown } = this.#options;
    // A replaced link may still send notifications: ignore them.
    if (!isKnown(server, source.settings)) return true;
    for (const kind of kinds) {
      // A list that was never read is read on first use.
      if (kind === 'tools' || catalog.stateOf(server, kind, monotonicNow()) !== 'empty')
        this.#relistSchedulerOf(keyOf(server, kind)).schedule(() => this.#readChanged(server, kind, source));
    }
    return true;
  }

  forget(server: string): void {
    for (const kind of Object.keys(LIST_SPECS) as ListKind[]) {
      const key = keyOf(server, kind);
      this.#relistSchedulers.get(key)?.stop();
      this.#relistSchedulers.delete(key);
      this.#pendingReads.delete(key);
    }
    this.#links.delete(server);
    this.#options.catalog.remove(server);
    this.#budget.forget(server);
  }

  /** The budget of a dedicated connection: definitions equal to the shared ones are stored only once. */
  #createDedicatedBudget(server: string): ListBudget {
    let held = 0;
    return {
      take: (weight, entry) => {
        const name = isRecord(entry) ? entry.name : undefined;
        const known = typeof name === 'string' && this.#options.catalog.findIncludingHidden(server, name);
        if (known && isSameJson(known.definition, entry)) return undefined;
        held += weight;
        return held > MAX_DEDICATED_BYTES
          ? `the list for a single caller is larger than ${MAX_DEDICATED_BYTES} bytes`
          : undefined;
      },
    };
  }

  #relistSchedulerOf(key: string): RelistScheduler {
    const running = (): Promise<void> | undefined => this.#pendingReads.get(key)?.done;
    const relisting =
      this.#relistSchedulers.get(key) ?? new RelistScheduler({ now: this.#options.monotonicNow, running });
    this.#relistSchedulers.set(key, relisting);
    return relisting;
  }

  async #readChanged(server: string, kind: ListKind, { link: find, settings }: ListSource): Promise<void> {
    const link = find();
    if (link === undefined) return;
    const { catalog, isKnown } = this.#options;
    await this.read(server, kind, { link, settings, reason: 'changed' }).catch((error: unknown) => {
      if (!isKnown(server, settings)) return;
      this.#relistSchedulerOf(keyOf(server, kind)).recordRead(true);
      catalog.setState(server, kind, 'stale');
      this.#emitDropped(server, kind, `the list could not be refreshed (${String(error)})`);
    });
  }

  async #read(
    server: string,
    kind: ListKind,
    reading: Required<ListReadOptions> & { readonly isCurrent: () => boolean },
  ): Promise<void> {
    const { catalog, monotonicNow } = this.#options;
    const { link, settings, isCurrent } = reading;
    const offered = link.peer.capabilities[LIST_SPECS[kind].capability] !== undefined;
    const listing: Listing = offered
      ? await this.#requestList(server, kind, { ...reading, budget: this.#budget.begin(server, kind) })
      : { items: [], ttlMs: undefined, truncated: undefined };
    if (!isCurrent()) return;
    const started = performance.now();
    // A TTL of zero means "do not rely on it", not "poll": only notifications count then.
    const ttlMs = settings.listTtlMs ?? listing.ttlMs ?? 0;
    const expiresAt = ttlMs > 0 ? monotonicNow() + ttlMs : Infinity;
    if (kind === 'tools') {
      const read = await inSlices(this.#readTools(server, link, listing));
      if (!isCurrent() || this.#links.get(server) !== link) return;
      const { serverInfo, instructions } = link.peer;
      catalog.setAbout(server, { serverInfo, instructions });
      const tools = read.filter(({ tool }) => isIncluded(tool, settings));
      catalog.setTools(server, tools, expiresAt);
      catalog.setLeftOut(server, kind, describeLeftOut(listing, read.length));
    } else {
      const items = this.#toItems(server, kind, listing);
      catalog.setItems(server, kind, { items, expiresAt });
      catalog.setLeftOut(server, kind, describeLeftOut(listing, items.length));
      // From a replaced link: better than nothing, and read again on the next use.
      if (this.#links.get(server) !== link) catalog.setState(server, kind, 'stale');
    }
    if (reading.reason !== 'changed') return;
    this.#relistSchedulerOf(keyOf(server, kind)).recordRead(isExpensiveRead(listing, started));
  }

  async #requestList(
    server: string,
    kind: ListKind,
    reading: Required<ListReadOptions> & { readonly budget: ListBudget },
  ): Promise<Listing> {
    const { events, maxPages, maxItems, maxDepth, listLimits } = this.#options;
    const { link, settings, reason, budget } = reading;
    const { maxDefinitionBytes } = listLimits;
    const { method, key } = LIST_SPECS[kind];
    const timeoutMs = settings.listTimeoutMs;
    try {
      const limits = { timeoutMs, maxPages, maxItems, maxDepth, maxDefinitionBytes, budget };
      const listing = await readListing(link.lane, { server, method, key, ...limits });
      events.emit('catalog.read', { server, kind, reason, outcome: 'ok' });
      const { truncated } = listing;
      if (truncated !== undefined)
        this.#emitDropped(server, kind, `the rest of the list is ignored because ${truncated}`);
      return listing;
    } catch (error) {
      events.emit('catalog.read', { server, kind, reason, outcome: 'failed' });
      throw error;
    }
  }

  *#readTools(server: string, link: Link, listing: Listing): Steps<CatalogTool[]> {
    const { prepare, toolOptions } = this.#options;
    const usesHeaders = link.era === 'modern' && link.serverTransport.hasHeaders;
    const names = new Set<string>();
    const tools: CatalogTool[] = [];
    for (const [index, item] of listing.items.entries()) {
      yield;
      if (item instanceof TooLarge) {
        this.#emitDropped(server, item.label ?? entryLabel(index), item.reason);
        continue;
      }
      const isDeep = item instanceof TooDeep;
      const entry = isDeep ? item.entry : item;
      const read = readTool(entry, { ...toolOptions, server, usesHeaders });
      const tool = isDeep && typeof read !== 'string' ? TOO_DEEP : read;
      const reason = typeof tool === 'string' ? tool : names.has(tool.tool) ? 'duplicate name' : undefined;
      if (typeof tool !== 'string' && reason === undefined) {
        names.add(tool.tool);
        const known = this.#reuseDefinition(tool);
        prepare?.(known);
        tools.push(known);
      } else this.#emitDropped(server, labelOf(entry) ?? entryLabel(index), reason ?? '');
    }
    return tools;
  }

  /** Cached results for a definition stay valid while it is unchanged, which is the usual case. */
  #reuseDefinition(tool: CatalogTool): CatalogTool {
    const before = this.#options.catalog.findIncludingHidden(tool.server, tool.tool);
    if (before === undefined || !isSameJson(before.definition, tool.definition)) return tool;
    const { definition, inputSchema, outputSchema } = before;
    return { ...tool, definition, inputSchema, outputSchema };
  }

  #toItems(server: string, kind: Exclude<ListKind, 'tools'>, listing: Listing): CatalogItem[] {
    const field = LIST_SPECS[kind].name;
    const keys = new Set<string>();
    return listing.items.flatMap((item, index) => {
      if (item instanceof TooLarge) {
        this.#emitDropped(server, item.label ?? entryLabel(index), item.reason);
        return [];
      }
      const isDeep = item instanceof TooDeep;
      const entry = isDeep ? item.entry : item;
      const key = isRecord(entry) ? entry[field] : undefined;
      const fault = isDeep ? TOO_DEEP : findKeyFault(key, { field, keys });
      if (fault === undefined && isRecord(entry) && typeof key === 'string') {
        keys.add(key);
        return [{ server, key, definition: entry, flags: [] }];
      }
      this.#emitDropped(server, labelOf(entry) ?? entryLabel(index), fault ?? TOO_DEEP);
      return [];
    });
  }

  #emitDropped(server: string, item: string, reason: string): void {
    this.#options.events.emit('catalog.dropped', { server, item, reason });
  }
}

/** A large list took as long to parse. */
const isExpensiveRead = ({ items }: Listing, started: number): boolean =>
  performance.now() - started > EXPENSIVE_READ_MS || hasMorePartsThan(items, EXPENSIVE_READ_PARTS);

const isIncluded = (tool: string, { includeTools, excludeTools }: ListSettings): boolean =>
  (includeTools?.includes(tool) ?? true) && !excludeTools.includes(tool);

/** A description for `status()`. */
function describeLeftOut({ items, truncated }: Listing, taken: number): string | undefined {
  const refused = items.length - taken;
  const words = [
    ...(refused > 0 ? [`${refused} of ${items.length} entries are unusable`] : []),
    ...(truncated === undefined ? [] : [`the rest of the list is ignored because ${truncated}`]),
  ];
  return words.length === 0 ? undefined : words.join('; ');
}

const entryLabel = (index: number): string => `entry ${index + 1}`;

/** Why an item cannot be named by the value of this field; `keys` are those of the items before it. */
function findKeyFault(
  key: unknown,
  { field, keys }: { readonly field: string; readonly keys: ReadonlySet<string> },
): string | undefined {
  if (typeof key !== 'string' || key === '') return `it has no ${field}`;
  if (/\p{Cs}/u.test(key)) return `its ${field} has half of a character`;
  return keys.has(key) ? `duplicate ${field}` : undefined;
}
