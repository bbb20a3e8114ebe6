/**
 * What exists: the tools, resources, templates and prompts of all servers, and the host's native tools,
 * under names that are unique, stable and reversible. Holds lists and answers questions; when to read a
 * list is decided in discovery.ts.
 */
import { TurnbuckleError } from '../errors.js';
import type { Events } from '../events.js';
import { fingerprint, isSameTool } from './fingerprint.js';
import { FlagBoard, type Flaggable } from './flag-board.js';
import type { Flag } from './flags.js';
import { type NamingPreset, toHashedName } from './names.js';
import { NATIVE_SERVER, type NativeTool, toCatalogEntry } from './native.js';
import type { CatalogTool } from './tool.js';

export type ListKind = 'tools' | 'resources' | 'templates' | 'prompts';
export type ListState = 'empty' | 'populating' | 'ready' | 'stale';

/** An entry of a server's resources, templates or prompts: as the server wrote it, plus whose it is. */
export interface CatalogItem {
  readonly server: string;
  /** URI, URI template or prompt name. */
  readonly key: string;
  readonly definition: Readonly<Record<string, unknown>>;
  /** Reasons to look at its texts before trusting them: codes from `FLAGS`. */
  readonly flags: readonly Flag[];
}

interface Shelf {
  tools: Map<string, CatalogTool>;
  readonly items: Map<Exclude<ListKind, 'tools'>, readonly CatalogItem[]>;
  readonly states: Map<ListKind, { state: ListState; expiresAt: number }>;
  /** What its lists have and cannot be used, in words, by the list. */
  readonly leftOut: Map<ListKind, string>;
  hidden: boolean;
  /** What the server says about itself. */
  about: Readonly<Record<string, unknown>> | undefined;
}

type OnTools = (
  server: string,
  before: ReadonlyMap<string, CatalogTool>,
  after: ReadonlyMap<string, CatalogTool>,
) => void;

export class Catalog {
  readonly #naming: NamingPreset;
  readonly #events: Events;
  readonly #shelves = new Map<string, Shelf>();
  readonly #byName = new Map<string, CatalogTool>();
  readonly #native = new Map<string, NativeTool>();
  readonly #flags: FlagBoard;
  #sorted: readonly CatalogTool[] | undefined;
  /** Another one after each change of what there is. */
  version = 0;
  readonly #onTools: OnTools | undefined;

  /** `onTools` is told of every reading of a server's tools, before anybody else. */
  constructor(naming: NamingPreset, events: Events, onTools?: OnTools) {
    this.#naming = naming;
    this.#events = events;
    this.#flags = new FlagBoard(
      events,
      () => this.#byName.values(),
      () => this.#toolsToFlag(),
    );
    this.#onTools = onTools;
  }

  // --- questions -------------------------------------------------------------------------------------

  /** The visible tool of that name. */
  get(name: string): CatalogTool | undefined {
    return this.#byName.get(name);
  }

  /** A server's tool by its own name. */
  find(server: string, tool: string): CatalogTool | undefined {
    const shelf = this.#shelves.get(server);
    return shelf === undefined || shelf.hidden ? undefined : shelf.tools.get(tool);
  }

  /** The same, whether or not it is shown. */
  lastRead(server: string, tool: string): CatalogTool | undefined {
    return this.#shelves.get(server)?.tools.get(tool);
  }

  /** All visible tools, sorted by name: the same set gives the same bytes, in whatever order it arrived. */
  list(): readonly CatalogTool[] {
    this.#sorted ??= [...this.#byName.values()].sort((left, right) => (left.name < right.name ? -1 : 1));
    return this.#sorted;
  }

  count(): number {
    return this.#byName.size;
  }

  listByServer(server: string): readonly CatalogTool[] {
    return this.list().filter((tool) => tool.server === server);
  }

  isMcpTool(name: string): boolean {
    return this.#byName.get(name)?.native === false;
  }

  /** What stands behind a name: server, original name, schema, fingerprint. */
  info(
    name: string,
  ):
    | { server: string; originalName: string; schema: CatalogTool['inputSchema']; fingerprint: string }
    | undefined {
    const tool = this.#byName.get(name);
    if (tool === undefined) return undefined;
    return {
      server: tool.server,
      originalName: tool.tool,
      schema: tool.inputSchema,
      fingerprint: fingerprint(tool.definition),
    };
  }

  nativeTool(name: string): NativeTool | undefined {
    return this.#native.get(name);
  }

  items(server: string, kind: Exclude<ListKind, 'tools'>): readonly CatalogItem[] {
    const shelf = this.#shelves.get(server);
    return shelf === undefined || shelf.hidden ? [] : (shelf.items.get(kind) ?? []);
  }

  /** Reasons to look at what a server says about itself, its instructions included. */
  serverFlags(server: string): readonly Flag[] {
    const about = this.#shelves.get(server)?.about;
    return about === undefined ? [] : this.#flags.flagsOf(server, about);
  }

  /** From now on, flags are looked for as soon as something changes, not when the first one asks for all of them. */
  wantFlags(): void {
    this.#flags.want();
  }

  /** What of a server's lists cannot be used: a line for each list of which that is so. */
  leftOut(server: string): readonly string[] {
    return [...(this.#shelves.get(server)?.leftOut ?? [])].map(([kind, what]) => `${kind}: ${what}`);
  }

  /** How fresh a list is; a list whose time has run out is stale. */
  stateOf(server: string, kind: ListKind, now: number): ListState {
    const entry = this.#shelves.get(server)?.states.get(kind);
    if (entry === undefined) return 'empty';
    return entry.state === 'ready' && now >= entry.expiresAt ? 'stale' : entry.state;
  }

  // --- native tools ----------------------------------------------------------------------------------

  /** Adds a function of the host as a tool. Throws NAME_TAKEN. */
  register(tool: NativeTool): void {
    const entry = toCatalogEntry(this.#naming, tool);
    if (this.#byName.has(tool.name)) {
      throw new TurnbuckleError('NAME_TAKEN', `There is already a tool named "${tool.name}".`, {
        tool: tool.name,
      });
    }
    this.#native.set(tool.name, tool);
    this.#byName.set(tool.name, entry);
    this.#sorted = undefined;
    this.#changed(NATIVE_SERVER, 'tools', { added: [tool.name] });
  }

  /** True when there was such a native tool. */
  unregister(name: string): boolean {
    if (!this.#native.delete(name)) return false;
    this.#byName.delete(name);
    this.#sorted = undefined;
    this.#changed(NATIVE_SERVER, 'tools', { removed: [name] });
    return true;
  }

  // --- servers ---------------------------------------------------------------------------------------

  /** Replaces a server's tools; says what came, went and changed. */
  setTools(server: string, tools: readonly CatalogTool[], expiresAt: number): void {
    const shelf = this.#shelf(server);
    const before = shelf.tools;
    const after = new Map(tools.map((tool) => [tool.tool, this.flagged(this.#unclash(tool))]));
    shelf.tools = after;
    shelf.states.set('tools', { state: 'ready', expiresAt });
    if (!shelf.hidden) {
      for (const tool of before.values()) this.#byName.delete(tool.name);
      this.#show(server, after.values());
    }
    this.#onTools?.(server, before, after);
    const added = [...after.keys()].filter((name) => !before.has(name));
    const removed = [...before.keys()].filter((name) => !after.has(name));
    const changed = [...after].flatMap(([name, tool]) => {
      const old = before.get(name);
      return old !== undefined && !isSameTool(old.definition, tool.definition) ? [name] : [];
    });
    this.#changed(server, 'tools', { added, removed, changed });
    this.#flags.tell(this.#toolsToFlag());
  }

  setItems(
    server: string,
    kind: Exclude<ListKind, 'tools'>,
    items: readonly CatalogItem[],
    expiresAt: number,
  ): void {
    const shelf = this.#shelf(server);
    const before = new Set((shelf.items.get(kind) ?? []).map((item) => item.key));
    const after = new Set(items.map((item) => item.key));
    const flagged = items.map((item) => this.flagged(item));
    shelf.items.set(kind, flagged);
    shelf.states.set(kind, { state: 'ready', expiresAt });
    this.#changed(server, kind === 'prompts' ? 'prompts' : 'resources', {
      added: [...after].filter((key) => !before.has(key)),
      removed: [...before].filter((key) => !after.has(key)),
    });
    const singular = { resources: 'resource', templates: 'template', prompts: 'prompt' } as const;
    this.#flags.tell(
      flagged.map(({ key, definition }) => ({ server, kind: singular[kind], item: key, definition })),
    );
  }

  /** What a server says about itself on a fresh link: untrusted, kept to be looked at. */
  setAbout(server: string, about: Readonly<Record<string, unknown>>): void {
    this.#shelf(server).about = about;
    this.#flags.tell([{ server, kind: 'server', item: server, definition: about }]);
  }

  /** Undefined: nothing is left out of the list. */
  setLeftOut(server: string, kind: ListKind, what: string | undefined): void {
    const { leftOut } = this.#shelf(server);
    if (what === undefined) leftOut.delete(kind);
    else leftOut.set(kind, what);
  }

  mark(server: string, kind: ListKind, state: ListState): void {
    this.#shelf(server).states.set(kind, { state, expiresAt: Infinity });
  }

  /** Hides or shows everything of a server without forgetting it. */
  setHidden(server: string, hidden: boolean): void {
    const shelf = this.#shelf(server);
    if (shelf.hidden === hidden) return;
    shelf.hidden = hidden;
    if (hidden) for (const tool of shelf.tools.values()) this.#byName.delete(tool.name);
    else this.#show(server, shelf.tools.values());
    this.#sorted = undefined;
    this.#changed(server, 'tools', { [hidden ? 'removed' : 'added']: [...shelf.tools.keys()] });
  }

  remove(server: string): void {
    const shelf = this.#shelves.get(server);
    if (shelf === undefined) return;
    this.#shelves.delete(server);
    this.version += 1;
    if (shelf.hidden) return;
    for (const tool of shelf.tools.values()) this.#byName.delete(tool.name);
    this.#sorted = undefined;
    this.#changed(server, 'tools', { removed: [...shelf.tools.keys()] });
  }

  #shelf(server: string): Shelf {
    const shelf = this.#shelves.get(server) ?? {
      tools: new Map(),
      items: new Map(),
      states: new Map(),
      leftOut: new Map(),
      hidden: false,
      about: undefined,
    };
    this.#shelves.set(server, shelf);
    return shelf;
  }

  /** A native tool keeps its name; the server's tool takes the hashed form. */
  #unclash(tool: CatalogTool): CatalogTool {
    return this.#native.has(tool.name) ? { ...tool, name: toHashedName(this.#naming, tool) } : tool;
  }

  flagged<Item extends { readonly server: string; readonly definition: CatalogTool['definition'] }>(
    item: Item,
  ) {
    const flags = (): readonly Flag[] => this.#flags.flagsOf(item.server, item.definition);
    return {
      ...item,
      get flags() {
        return flags();
      },
    };
  }

  *#toolsToFlag(): Iterable<Flaggable> {
    for (const { tools } of this.#shelves.values())
      for (const { server, tool, definition } of tools.values())
        yield { server, kind: 'tool', item: tool, definition };
  }

  #show(server: string, tools: Iterable<CatalogTool>): void {
    for (const tool of tools) {
      if (this.#byName.has(tool.name)) {
        this.#events.emit('catalog.dropped', {
          server,
          item: tool.tool,
          reason: `the name ${tool.name} is taken`,
        });
      } else this.#byName.set(tool.name, tool);
    }
    this.#sorted = undefined;
  }

  #changed(
    server: string,
    kind: 'tools' | 'resources' | 'prompts',
    { added = [], removed = [], changed = [] }: { added?: string[]; removed?: string[]; changed?: string[] },
  ): void {
    this.version += 1;
    // A tool that came may be one that others speak about.
    this.#flags.changed();
    if (added.length + removed.length + changed.length === 0) return;
    this.#events.emit('catalog.changed', { server, kind, added, removed, changed });
  }
}
