/**
 * When and how the lists of a server are read into the catalog: tools on every fresh link, resources and
 * prompts when first asked for, all of them again when the server says so, when their time has run out, or
 * on demand. A burst of reasons is one reading.
 */
import type { Link } from '../connection/link.js';
import type { Events, RuntimeEvents } from '../events.js';
import { isRecord } from '../is-record.js';
import { inSlices, type Steps } from '../json/slices.js';
import { hasMoreParts } from '../json/write-large.js';
import type { Catalog, CatalogItem, ListKind } from './catalog.js';
import { type ListLimits, ListRoom, type RoomForList } from './list-room.js';
import { type Listing, type ListRequest, labelOf, readListing, TooDeep, TooLarge } from './listing.js';
import { RelistPace } from './relist-pace.js';
import { isSameJson } from './same-json.js';
import { type CatalogTool, readTool, type ToolReading } from './tool.js';

/** What a server's configuration says about its lists. */
export interface ListSettings {
  readonly listTimeoutMs: number;
  readonly includeTools?: readonly string[] | undefined;
  readonly excludeTools: readonly string[];
}

export interface DiscoveryOptions {
  readonly catalog: Catalog;
  readonly events: Events;
  readonly now: () => number;
  readonly reading: Pick<ToolReading, 'naming' | 'describePrefix' | 'limits'>;
  readonly maxPages: number;
  readonly maxItems: number;
  readonly maxDepth: number;
  readonly listLimits: ListLimits;
  /** Whether this is the server that has the name now: another one may have got it while a list was read. */
  readonly isKnown: (server: string, settings: ListSettings) => boolean;
  /** What is found out about each tool before the list is taken over, because it takes time. */
  readonly prepare?: (tool: CatalogTool) => void;
}

interface ListSource {
  readonly link: () => Link | undefined;
  readonly settings: ListSettings;
}

/** From where a list is read, and why; without a reason somebody wants it. */
export interface Reading {
  readonly link: Link;
  readonly settings: ListSettings;
  readonly reason?: RuntimeEvents['catalog.read']['reason'];
}

/** A reading under way. */
interface Running {
  readonly link: Link;
  done: Promise<void>;
}

interface Source {
  readonly method: ListRequest['method'];
  readonly key: ListRequest['key'];
  /** The capability without which a server has no such list. */
  readonly capability: 'tools' | 'resources' | 'prompts';
  /** The field that names an entry. */
  readonly name: string;
}

const SOURCES: Readonly<Record<ListKind, Source>> = {
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

/** A map: methods are named by servers, and every object has a `constructor`. */
const CHANGES: ReadonlyMap<string, readonly ListKind[]> = new Map([
  ['notifications/tools/list_changed', ['tools']],
  ['notifications/resources/list_changed', ['resources', 'templates']],
  ['notifications/prompts/list_changed', ['prompts']],
]);

const TOO_DEEP = 'it is nested too deep';

const keyOf = (server: string, kind: ListKind): string => JSON.stringify([server, kind]);

/** Reasons that come this close together are one. */
const COALESCE_MS = 100;
/** Work that takes so long, or a list with so many parts, is noticed by others. */
const DEAR_MS = 50;
const MANY_PARTS = 20_000;
/**
 * A server that says again and again that its list is another one is read at once so often, and then ever more slowly:
 * one that leads back to this program through something that cannot tell would never end that.
 */
const QUICK_READINGS = 20;
const FORGET_MS = 5_000;
/** Of definitions that a server has for one agent or session only: there may be many of these. */
const APART_BYTES = 1_024 * 1_024;
const SLOWEST_MS = 30_000;

export class Discovery {
  readonly #options: DiscoveryOptions;
  readonly #running = new Map<string, Running>();
  readonly #scheduled = new Map<string, NodeJS.Timeout>();
  readonly #paces = new Map<string, RelistPace>();
  /** How many readings there were because of a change; one is forgotten after a while. */
  readonly #changes = new Map<string, { readonly count: number; readonly at: number }>();

  readonly #room: ListRoom;

  constructor(options: DiscoveryOptions) {
    this.#options = options;
    this.#room = new ListRoom(options.listLimits);
  }

  /** Reads the tools on a fresh link. What else was known is read again when somebody asks for it. */
  opened(server: string, link: Link, settings: ListSettings): Promise<void> {
    const { catalog, now } = this.#options;
    for (const kind of ['resources', 'templates', 'prompts'] as const)
      if (catalog.stateOf(server, kind, now()) === 'ready') catalog.mark(server, kind, 'stale');
    return this.read(server, 'tools', { link, settings, reason: 'connected' });
  }

  /**
   * Reads a list now; concurrent readings of one list are one, unless a fresh link has taken the place of the other's. What
   * such a one brings, or one of a server that is not there any more, counts for nothing.
   */
  read(server: string, kind: ListKind, reading: Reading): Promise<void> {
    const key = keyOf(server, kind);
    const running = this.#running.get(key);
    const isFresh = reading.reason === 'connected' && running?.link !== reading.link;
    if (running !== undefined && !isFresh) return running.done;
    const { catalog, now, isKnown } = this.#options;
    if (!isKnown(server, reading.settings)) return Promise.resolve();
    const before = catalog.stateOf(server, kind, now());
    if (before === 'empty') catalog.mark(server, kind, 'populating');
    const reason = before === 'stale' ? 'stale' : 'asked';
    const own: Running = { link: reading.link, done: Promise.resolve() };
    this.#running.set(key, own);
    const isCurrent = (): boolean =>
      this.#running.get(key) === own && this.#options.isKnown(server, reading.settings);
    let isKept = false;
    const work = this.#read(server, kind, { reason, ...reading, isCurrent }).then(() => {
      isKept = true;
    });
    own.done = work.finally(() => {
      if (this.#running.get(key) !== own) return;
      this.#running.delete(key);
      this.#room.end(server, kind, isKept);
      if (catalog.stateOf(server, kind, now()) === 'populating') catalog.mark(server, kind, 'empty');
    });
    return own.done;
  }

  /** The tools of a link of somebody's own, by their names there. They are in no list: who calls over it is held to them. */
  async toolsOf(server: string, reading: Reading): Promise<ReadonlyMap<string, CatalogTool>> {
    const { link, settings } = reading;
    if (link.peer.capabilities.tools === undefined) return new Map();
    const room = this.#roomApart(server);
    const listing = await this.#ask(server, 'tools', { reason: 'connected', ...reading, room });
    const read = await inSlices(this.#tools(server, link, listing));
    const tools = read.filter(({ tool }) => isWanted(tool, settings));
    return new Map(tools.map((tool) => [tool.tool, this.#options.catalog.flagged(tool)]));
  }

  /** Reads what a notification says has changed, a moment later; true when it was such a notification. */
  noteChange(server: string, method: string, source: ListSource): boolean {
    const kinds = CHANGES.get(method);
    if (kinds === undefined) return false;
    for (const kind of kinds) {
      const { catalog, now } = this.#options;
      // A list that nobody has asked for is read when somebody does.
      if (kind === 'tools' || catalog.stateOf(server, kind, now()) !== 'empty')
        this.#schedule(server, kind, source);
    }
    return true;
  }

  forget(server: string): void {
    for (const kind of Object.keys(SOURCES) as ListKind[]) {
      const key = keyOf(server, kind);
      clearTimeout(this.#scheduled.get(key));
      this.#running.delete(key);
      this.#scheduled.delete(key);
      this.#paces.delete(key);
      this.#changes.delete(key);
    }
    this.#options.catalog.remove(server);
    this.#room.forget(server);
  }

  /** For the list of one caller's connection: what is the same for all is held once anyway. */
  #roomApart(server: string): RoomForList {
    let held = 0;
    return {
      take: (weight, entry) => {
        const name = isRecord(entry) ? entry.name : undefined;
        const known = typeof name === 'string' && this.#options.catalog.lastRead(server, name);
        if (known && isSameJson(known.definition, entry)) return undefined;
        held += weight;
        return held > APART_BYTES
          ? `what it lists for one caller alone is larger than ${APART_BYTES} bytes`
          : undefined;
      },
    };
  }

  #schedule(server: string, kind: ListKind, source: ListSource): void {
    const key = keyOf(server, kind);
    if (this.#scheduled.has(key)) return;
    const timer = setTimeout(
      async () => {
        // A reading under way may have begun before the change: wait for it, then read again.
        await this.#running.get(key)?.done.catch(() => {});
        this.#scheduled.delete(key);
        const link = source.link();
        if (link === undefined) return;
        const reading = { link, settings: source.settings, reason: 'changed' } as const;
        await this.read(server, kind, reading).catch((error: unknown) => {
          this.#paceOf(key).note(true);
          this.#options.catalog.mark(server, kind, 'stale');
          this.#leaveOut(server, kind, `the list could not be read again: ${String(error)}`);
        });
      },
      Math.max(this.#paceOf(key).delayMs, this.#delayFor(key)),
    );
    this.#scheduled.set(key, timer.unref());
  }

  #paceOf(key: string): RelistPace {
    const pace = this.#paces.get(key) ?? new RelistPace({ now: this.#options.now, minMs: COALESCE_MS });
    this.#paces.set(key, pace);
    return pace;
  }

  #delayFor(key: string): number {
    const now = this.#options.now();
    const { count: before, at } = this.#changes.get(key) ?? { count: 0, at: now };
    const count = Math.max(0, before - (now - at) / FORGET_MS);
    this.#changes.set(key, { count: count + 1, at: now });
    return Math.min(COALESCE_MS * 2 ** Math.max(0, count - QUICK_READINGS), SLOWEST_MS);
  }

  async #read(
    server: string,
    kind: ListKind,
    reading: Required<Reading> & { readonly isCurrent: () => boolean },
  ): Promise<void> {
    const { catalog, now } = this.#options;
    const { link, settings, isCurrent } = reading;
    const offered = link.peer.capabilities[SOURCES[kind].capability] !== undefined;
    const listing: Listing = offered
      ? await this.#ask(server, kind, { ...reading, room: this.#room.begin(server, kind) })
      : { items: [], ttlMs: undefined, truncated: undefined };
    if (!isCurrent()) return;
    const started = performance.now();
    // A life of zero says "do not rely on it", not "ask all the time": then only notifications count.
    const expiresAt = listing.ttlMs !== undefined && listing.ttlMs > 0 ? now() + listing.ttlMs : Infinity;
    if (kind === 'tools') {
      const read = await inSlices(this.#tools(server, link, listing));
      if (!isCurrent()) return;
      const { serverInfo, instructions } = link.peer;
      catalog.setAbout(server, { serverInfo, instructions });
      const tools = read.filter(({ tool }) => isWanted(tool, settings));
      catalog.setTools(server, tools, expiresAt);
      catalog.setLeftOut(server, kind, whatIsLeftOut(listing, read.length));
    } else {
      const items = this.#items(server, kind, listing);
      catalog.setItems(server, kind, items, expiresAt);
      catalog.setLeftOut(server, kind, whatIsLeftOut(listing, items.length));
    }
    if (reading.reason !== 'changed') return;
    // Reading the text of a large one took as long.
    const isDear = performance.now() - started > DEAR_MS || hasMoreParts(listing.items, MANY_PARTS);
    this.#paceOf(keyOf(server, kind)).note(isDear);
  }

  async #ask(
    server: string,
    kind: ListKind,
    reading: Required<Reading> & { readonly room: RoomForList },
  ): Promise<Listing> {
    const { events, maxPages, maxItems, maxDepth, listLimits } = this.#options;
    const { link, settings, reason, room } = reading;
    const { maxDefinitionBytes } = listLimits;
    const { method, key } = SOURCES[kind];
    const timeoutMs = settings.listTimeoutMs;
    try {
      const limits = { timeoutMs, maxPages, maxItems, maxDepth, maxDefinitionBytes, room };
      const listing = await readListing(link.lane, { server, method, key, ...limits });
      events.emit('catalog.read', { server, kind, reason, outcome: 'ok' });
      const { truncated } = listing;
      if (truncated !== undefined)
        this.#leaveOut(server, kind, `the rest of the list is left out: ${truncated}`);
      return listing;
    } catch (error) {
      events.emit('catalog.read', { server, kind, reason, outcome: 'failed' });
      throw error;
    }
  }

  *#tools(server: string, link: Link, listing: Listing): Steps<CatalogTool[]> {
    const { prepare, reading } = this.#options;
    const headersMatter = link.era === 'modern' && link.carrier.hasHeaders;
    const names = new Set<string>();
    const tools: CatalogTool[] = [];
    for (const [index, item] of listing.items.entries()) {
      yield;
      if (item instanceof TooLarge) {
        this.#leaveOut(server, item.label ?? numbered(index), item.reason);
        continue;
      }
      const isDeep = item instanceof TooDeep;
      const entry = isDeep ? item.entry : item;
      const read = readTool(entry, { ...reading, server, headersMatter });
      const tool = isDeep && typeof read !== 'string' ? TOO_DEEP : read;
      const reason =
        typeof tool === 'string' ? tool : names.has(tool.tool) ? 'its name is there twice' : undefined;
      if (typeof tool !== 'string' && reason === undefined) {
        names.add(tool.tool);
        const known = this.#asBefore(tool);
        prepare?.(known);
        tools.push(known);
      } else this.#leaveOut(server, labelOf(entry) ?? numbered(index), reason ?? '');
    }
    return tools;
  }

  /** What was found out about a definition holds as long as it stays the same, which it mostly does. */
  #asBefore(tool: CatalogTool): CatalogTool {
    const before = this.#options.catalog.lastRead(tool.server, tool.tool);
    if (before === undefined || !isSameJson(before.definition, tool.definition)) return tool;
    const { definition, inputSchema, outputSchema } = before;
    return { ...tool, definition, inputSchema, outputSchema };
  }

  #items(server: string, kind: Exclude<ListKind, 'tools'>, listing: Listing): CatalogItem[] {
    const field = SOURCES[kind].name;
    return listing.items.flatMap((item, index) => {
      if (item instanceof TooLarge) {
        this.#leaveOut(server, item.label ?? numbered(index), item.reason);
        return [];
      }
      const isDeep = item instanceof TooDeep;
      const entry = isDeep ? item.entry : item;
      const key = isRecord(entry) ? entry[field] : undefined;
      if (!isDeep && isRecord(entry) && typeof key === 'string' && key !== '')
        return [{ server, key, definition: entry, flags: [] }];
      this.#leaveOut(server, labelOf(entry) ?? numbered(index), isDeep ? TOO_DEEP : `it has no ${field}`);
      return [];
    });
  }

  #leaveOut(server: string, item: string, reason: string): void {
    this.#options.events.emit('catalog.dropped', { server, item, reason });
  }
}

const isWanted = (tool: string, { includeTools, excludeTools }: ListSettings): boolean =>
  (includeTools?.includes(tool) ?? true) && !excludeTools.includes(tool);

/** In words, for who looks at the server later than it was told. */
function whatIsLeftOut({ items, truncated }: Listing, taken: number): string | undefined {
  const refused = items.length - taken;
  const words = [
    ...(refused > 0 ? [`${refused} of ${items.length} entries cannot be used`] : []),
    ...(truncated === undefined ? [] : [`the rest is left out: ${truncated}`]),
  ];
  return words.length === 0 ? undefined : words.join('; ');
}

const numbered = (index: number): string => `entry ${index + 1}`;
