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
import { Relisting } from './relisting.js';
import { isSameJson } from './same-json.js';
import { type CatalogTool, readTool, type ToolReading } from './tool.js';
import type { ToolsRead } from './tools-apart.js';

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

/** Work that takes so long, or a list with so many parts, is noticed by others. */
const DEAR_MS = 50;
const MANY_PARTS = 20_000;
/** Of definitions that a server has for one agent or session only: there may be many of these. */
const APART_BYTES = 1_024 * 1_024;

export class Discovery {
  readonly #options: DiscoveryOptions;
  readonly #running = new Map<string, Running>();
  readonly #relistings = new Map<string, Relisting>();
  /** The link of each server that was opened last. */
  readonly #links = new Map<string, Link>();
  readonly #room: ListRoom;

  constructor(options: DiscoveryOptions) {
    this.#options = options;
    this.#room = new ListRoom(options.listLimits);
  }

  /** Reads the tools on a fresh link. What else was known is read again when somebody asks for it. */
  opened(server: string, link: Link, settings: ListSettings): Promise<void> {
    const { catalog, now, isKnown } = this.#options;
    if (!isKnown(server, settings)) return Promise.resolve();
    this.#links.set(server, link);
    for (const kind of ['resources', 'templates', 'prompts'] as const)
      if (catalog.stateOf(server, kind, now()) === 'ready') catalog.mark(server, kind, 'stale');
    return this.read(server, 'tools', { link, settings, reason: 'connected' });
  }

  /**
   * Reads a list now; concurrent readings of one list are one, unless a fresh link has taken the place of the other's: what
   * that one brings counts for nothing, and who waits for it has the list of the fresh link. Nor does anything count that
   * comes from a server that is not there any more.
   */
  read(server: string, kind: ListKind, reading: Reading): Promise<void> {
    const key = keyOf(server, kind);
    const running = this.#running.get(key);
    const isFresh = running?.link !== reading.link && this.#links.get(server) === reading.link;
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
      const newer = this.#running.get(key);
      if (newer !== own) return newer?.done;
      this.#running.delete(key);
      this.#room.end(server, kind, isKept);
      if (catalog.stateOf(server, kind, now()) === 'populating') catalog.mark(server, kind, 'empty');
    });
    return own.done;
  }

  /** The tools of a link of somebody's own, which are in no list. */
  async toolsOf(server: string, reading: Reading): Promise<ToolsRead> {
    const { link, settings } = reading;
    if (link.peer.capabilities.tools === undefined) return { tools: new Map(), isDear: false };
    const room = this.#roomApart(server);
    const listing = await this.#ask(server, 'tools', { reason: 'asked', ...reading, room });
    const started = performance.now();
    const read = await inSlices(this.#tools(server, link, listing));
    const tools = read.filter(({ tool }) => isWanted(tool, settings));
    return {
      tools: new Map(tools.map((tool) => [tool.tool, this.#options.catalog.flagged(tool)])),
      isDear: isDear(listing, started),
    };
  }

  /** Reads what a notification says has changed, a moment later; true when it was such a notification. */
  noteChange(server: string, method: string, source: ListSource): boolean {
    const kinds = CHANGES.get(method);
    if (kinds === undefined) return false;
    const { catalog, now, isKnown } = this.#options;
    // One that has been replaced may still speak, and must not take the turn of the other.
    if (!isKnown(server, source.settings)) return true;
    for (const kind of kinds) {
      // A list that nobody has asked for is read when somebody does.
      if (kind === 'tools' || catalog.stateOf(server, kind, now()) !== 'empty')
        this.#relistingOf(keyOf(server, kind)).noteChange(() => this.#readChanged(server, kind, source));
    }
    return true;
  }

  forget(server: string): void {
    for (const kind of Object.keys(SOURCES) as ListKind[]) {
      const key = keyOf(server, kind);
      this.#relistings.get(key)?.stop();
      this.#relistings.delete(key);
      this.#running.delete(key);
    }
    this.#links.delete(server);
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

  #relistingOf(key: string): Relisting {
    const running = (): Promise<void> | undefined => this.#running.get(key)?.done;
    const relisting = this.#relistings.get(key) ?? new Relisting({ now: this.#options.now, running });
    this.#relistings.set(key, relisting);
    return relisting;
  }

  async #readChanged(server: string, kind: ListKind, { link: find, settings }: ListSource): Promise<void> {
    const link = find();
    if (link === undefined) return;
    const { catalog, isKnown } = this.#options;
    await this.read(server, kind, { link, settings, reason: 'changed' }).catch((error: unknown) => {
      if (!isKnown(server, settings)) return;
      this.#relistingOf(keyOf(server, kind)).noteReading(true);
      catalog.mark(server, kind, 'stale');
      this.#leaveOut(server, kind, `the list could not be read again: ${String(error)}`);
    });
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
      if (!isCurrent() || this.#links.get(server) !== link) return;
      const { serverInfo, instructions } = link.peer;
      catalog.setAbout(server, { serverInfo, instructions });
      const tools = read.filter(({ tool }) => isWanted(tool, settings));
      catalog.setTools(server, tools, expiresAt);
      catalog.setLeftOut(server, kind, whatIsLeftOut(listing, read.length));
    } else {
      const items = this.#items(server, kind, listing);
      catalog.setItems(server, kind, items, expiresAt);
      catalog.setLeftOut(server, kind, whatIsLeftOut(listing, items.length));
      // From a link that has been replaced: better than nothing, and read again when somebody asks.
      if (this.#links.get(server) !== link) catalog.mark(server, kind, 'stale');
    }
    if (reading.reason !== 'changed') return;
    this.#relistingOf(keyOf(server, kind)).noteReading(isDear(listing, started));
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

/** Reading the text of a large one took as long. */
const isDear = ({ items }: Listing, started: number): boolean =>
  performance.now() - started > DEAR_MS || hasMoreParts(items, MANY_PARTS);

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
