/**
 * The tools, resources, templates and prompts of all servers, and the host's native tools, under names that are
 * unique, stable and reversible. Holds and looks up lists; discovery.ts decides when to read them.
 */
import { TurnbuckleError } from '../errors.js';
import type { Events } from '../events.js';
import { fingerprint, isSameTool } from './fingerprint.js';
import { type Flaggable, FlagIndex } from './flag-index.js';
import type { Flag } from './flags.js';
import { type NamingPreset, toHashedName } from './names.js';
import { NATIVE_SERVER, type NativeTool, toCatalogEntry } from './native.js';
import type { CatalogTool } from './tool.js';

export type ListKind = 'tools' | 'resources' | 'templates' | 'prompts';
export type ListState = 'empty' | 'populating' | 'ready' | 'stale';

/** A resource, template or prompt: exactly as the server wrote it, plus the server's name. */
export interface CatalogItem {
  readonly server: string;
  /** URI, URI template or prompt name. */
  readonly key: string;
  readonly definition: Readonly<Record<string, unknown>>;
  /** Flags of its texts: codes from `FLAGS`. */
  readonly flags: readonly Flag[];
}

interface ServerEntry {
  tools: Map<string, CatalogTool>;
  readonly items: Map<Exclude<ListKind, 'tools'>, readonly CatalogItem[]>;
  readonly states: Map<ListKind, { state: ListState; expiresAt: number }>;
  /** Unusable entries of its lists, described per list. */
  readonly leftOut: Map<ListKind, string>;
  hidden: boolean;
  /** The server's own description and instructions. */
  about: Readonly<Record<string, unknown>> | undefined;
}

interface ToolInfo {
  readonly server: string;
  readonly originalName: string;
  readonly schema: CatalogTool['inputSchema'];
  readonly fingerprint: string;
  /** Whether its server has an open connection; a native tool always counts as connected. */
  readonly connected: boolean;
}

interface CatalogHooks {
  /** Called with every reading of a server's tools, before anyone else. */
  readonly onTools?: (
    server: string,
    before: ReadonlyMap<string, CatalogTool>,
    after: ReadonlyMap<string, CatalogTool>,
  ) => void;
  /** Whether the server has an open connection. */
  readonly isConnected?: (server: string) => boolean;
}

export class Catalog {
  readonly #naming: NamingPreset;
  readonly #events: Events;
  readonly #entries = new Map<string, ServerEntry>();
  readonly #byName = new Map<string, CatalogTool>();
  readonly #native = new Map<string, NativeTool>();
  readonly #flags: FlagIndex;
  #sorted: readonly CatalogTool[] | undefined;
  /** Increases with every change. */
  version = 0;
  readonly #hooks: CatalogHooks;

  constructor(naming: NamingPreset, events: Events, hooks: CatalogHooks = {}) {
    this.#naming = naming;
    this.#events = events;
    this.#flags = new FlagIndex(
      events,
      () => this.#byName.values(),
      () => this.#toolsToFlag(),
    );
    this.#hooks = hooks;
  }

  // --- lookups ---------------------------------------------------------------------------------------

  /** The visible tool with this name. */
  get(name: string): CatalogTool | undefined {
    return this.#byName.get(name);
  }

  /** A server's tool by its original name, or a native tool. */
  find(server: string, tool: string): CatalogTool | undefined {
    const entry = this.#entries.get(server);
    if (entry === undefined)
      return server === NATIVE_SERVER && this.#native.has(tool) ? this.#byName.get(tool) : undefined;
    return entry.hidden ? undefined : entry.tools.get(tool);
  }

  /** The same, including hidden tools. */
  findIncludingHidden(server: string, tool: string): CatalogTool | undefined {
    return this.#entries.get(server)?.tools.get(tool);
  }

  /** All visible tools, sorted by name: the same set gives the same bytes, whatever the order of arrival. */
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

  /** What a name refers to: server, original name, schema, fingerprint, and whether the server is connected. */
  info(name: string): ToolInfo | undefined {
    const tool = this.#byName.get(name);
    if (tool === undefined) return undefined;
    return {
      server: tool.server,
      originalName: tool.tool,
      schema: tool.inputSchema,
      fingerprint: fingerprint(tool.definition),
      connected: tool.native || this.#hooks.isConnected?.(tool.server) === true,
    };
  }

  nativeTool(name: string): NativeTool | undefined {
    return this.#native.get(name);
  }

  items(server: string, kind: Exclude<ListKind, 'tools'>): readonly CatalogItem[] {
    const entry = this.#entries.get(server);
    return entry === undefined || entry.hidden ? [] : (entry.items.get(kind) ?? []);
  }

  /** Flags of a server's own texts, including its instructions. */
  serverFlags(server: string): readonly Flag[] {
    const about = this.#entries.get(server)?.about;
    return about === undefined ? [] : this.#flags.flagsOf(server, about);
  }

  /** From now on, flags are computed as soon as something changes, not on first use. */
  enableFlagScan(): void {
    this.#flags.enableScan();
  }

  /** Unusable entries of a server's lists: one line per list. */
  leftOut(server: string): readonly string[] {
    return [...(this.#entries.get(server)?.leftOut ?? [])].map(([kind, what]) => `${kind}: ${what}`);
  }

  /** The state of a list; an expired list is stale. `now`: of the monotonic clock that its expiry was set by. */
  stateOf(server: string, kind: ListKind, now: number): ListState {
    const entry = this.#entries.get(server)?.states.get(kind);
    if (entry === undefined) return 'empty';
    return entry.state === 'ready' && now >= entry.expiresAt ? 'stale' : entry.state;
  }

  // --- native tools ----------------------------------------------------------------------------------

  /** Adds a function of the host as a tool. Throws NAME_TAKEN. */
  register(tool: NativeTool): void {
    const entry = toCatalogEntry(this.#naming, tool);
    if (this.#byName.has(tool.name)) {
      throw new TurnbuckleError('NAME_TAKEN', `Tool "${tool.name}" already exists.`, {
        tool: tool.name,
        hint: 'Choose another name, or unregister the existing tool first.',
      });
    }
    this.#native.set(tool.name, tool);
    this.#byName.set(tool.name, entry);
    this.#sorted = undefined;
    this.#emitChange(NATIVE_SERVER, 'tools', { added: [tool.name] });
  }

  /** True if the native tool existed. */
  unregister(name: string): boolean {
    if (!this.#native.delete(name)) return false;
    this.#byName.delete(name);
    this.#sorted = undefined;
    this.#emitChange(NATIVE_SERVER, 'tools', { removed: [name] });
    return true;
  }

  // --- servers ---------------------------------------------------------------------------------------

  /** Replaces a server's tools; reports added, removed and changed ones. */
  setTools(server: string, tools: readonly CatalogTool[], expiresAt: number): void {
    const entry = this.#entryOf(server);
    const before = entry.tools;
    const after = new Map(tools.map((tool) => [tool.tool, this.withFlags(this.#avoidNameClash(tool))]));
    entry.tools = after;
    entry.states.set('tools', { state: 'ready', expiresAt });
    if (!entry.hidden) {
      this.#removeVisible(before.values());
      this.#addVisible(server, after.values());
    }
    this.#hooks.onTools?.(server, before, after);
    const added = [...after.keys()].filter((name) => !before.has(name));
    const removed = [...before.keys()].filter((name) => !after.has(name));
    const changed = [...after].flatMap(([name, tool]) => {
      const old = before.get(name);
      return old !== undefined && !isSameTool(old.definition, tool.definition) ? [name] : [];
    });
    this.#emitChange(server, 'tools', { added, removed, changed });
    this.#flags.scan(this.#toolsToFlag());
  }

  setItems(
    server: string,
    kind: Exclude<ListKind, 'tools'>,
    { items, expiresAt }: { readonly items: readonly CatalogItem[]; readonly expiresAt: number },
  ): void {
    const entry = this.#entryOf(server);
    const before = new Set((entry.items.get(kind) ?? []).map((item) => item.key));
    const after = new Set(items.map((item) => item.key));
    const flagged = items.map((item) => this.withFlags(item));
    entry.items.set(kind, flagged);
    entry.states.set(kind, { state: 'ready', expiresAt });
    this.#emitChange(server, kind === 'prompts' ? 'prompts' : 'resources', {
      added: [...after].filter((key) => !before.has(key)),
      removed: [...before].filter((key) => !after.has(key)),
    });
    const singular = { resources: 'resource', templates: 'template', prompts: 'prompt' } as const;
    this.#flags.scan(
      flagged.map(({ key, definition }) => ({ server, kind: singular[kind], item: key, definition })),
    );
  }

  /** The server's own description on a new link: untrusted, kept for flags. */
  setAbout(server: string, about: Readonly<Record<string, unknown>>): void {
    this.#entryOf(server).about = about;
    this.#flags.scan([{ server, kind: 'server', item: server, definition: about }]);
  }

  /** Undefined: the list is complete. */
  setLeftOut(server: string, kind: ListKind, what: string | undefined): void {
    const { leftOut } = this.#entryOf(server);
    if (what === undefined) leftOut.delete(kind);
    else leftOut.set(kind, what);
  }

  setState(server: string, kind: ListKind, state: ListState): void {
    this.#entryOf(server).states.set(kind, { state, expiresAt: Infinity });
  }

  /** Hides or shows all items of a server without removing them. */
  setHidden(server: string, hidden: boolean): void {
    const entry = this.#entryOf(server);
    if (entry.hidden === hidden) return;
    entry.hidden = hidden;
    if (hidden) this.#removeVisible(entry.tools.values());
    else this.#addVisible(server, entry.tools.values());
    this.#sorted = undefined;
    this.#emitChange(server, 'tools', { [hidden ? 'removed' : 'added']: [...entry.tools.keys()] });
  }

  remove(server: string): void {
    const entry = this.#entries.get(server);
    if (entry === undefined) return;
    this.#entries.delete(server);
    this.version += 1;
    if (entry.hidden) return;
    this.#removeVisible(entry.tools.values());
    this.#sorted = undefined;
    this.#emitChange(server, 'tools', { removed: [...entry.tools.keys()] });
  }

  #entryOf(server: string): ServerEntry {
    const entry = this.#entries.get(server) ?? {
      tools: new Map(),
      items: new Map(),
      states: new Map(),
      leftOut: new Map(),
      hidden: false,
      about: undefined,
    };
    this.#entries.set(server, entry);
    return entry;
  }

  /** A native tool keeps its name; the server's tool gets the hashed form. */
  #avoidNameClash(tool: CatalogTool): CatalogTool {
    return this.#native.has(tool.name) ? { ...tool, name: toHashedName(this.#naming, tool) } : tool;
  }

  withFlags<Item extends { readonly server: string; readonly definition: CatalogTool['definition'] }>(
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
    for (const { tools } of this.#entries.values())
      for (const { server, tool, definition } of tools.values())
        yield { server, kind: 'tool', item: tool, definition };
  }

  /** A name that another tool has stays with it. */
  #removeVisible(tools: Iterable<CatalogTool>): void {
    for (const tool of tools) if (this.#byName.get(tool.name) === tool) this.#byName.delete(tool.name);
  }

  #addVisible(server: string, tools: Iterable<CatalogTool>): void {
    for (const tool of tools) {
      if (this.#byName.has(tool.name)) {
        this.#events.emit('catalog.dropped', {
          server,
          item: tool.tool,
          reason: `the name "${tool.name}" is already in use`,
        });
      } else this.#byName.set(tool.name, tool);
    }
    this.#sorted = undefined;
  }

  #emitChange(
    server: string,
    kind: 'tools' | 'resources' | 'prompts',
    { added = [], removed = [], changed = [] }: { added?: string[]; removed?: string[]; changed?: string[] },
  ): void {
    this.version += 1;
    // Existing texts may mention a new tool.
    this.#flags.invalidate();
    if (added.length + removed.length + changed.length === 0) return;
    this.#events.emit('catalog.changed', { server, kind, added, removed, changed });
  }
}
