/** Compares tools with their approved definitions, and reports changes. Reads and writes through pin-store.ts. */

import { createSerialQueue } from '../async/serial-queue.js';
import { diffDefinitions } from '../catalog/definition-diff.js';
import { fingerprint } from '../catalog/fingerprint.js';
import type { CatalogTool } from '../catalog/tool.js';
import type { PinMode } from '../config/schema/rule-schema.js';
import { TurnbuckleError, toTurnbuckleError } from '../errors.js';
import type { Events } from '../events.js';
import { inSlices, type Steps } from '../json/slices.js';
import type { PinFault } from '../policy/decide.js';
import type { AgentList, Pin, PinFile, PinStore } from './pin-store.js';
import { createDefinitionPins } from './pinned-definition.js';
import { withoutServer } from './tested-tools.js';

/** Of the definitions that are stored at once. */
const MAX_TOTAL_LENGTH = 512 * 1_024;

/** A pin with the current state of its tool. */
export interface PinStatus extends Pin {
  /** `unknown`: the tools of its server have not been listed in this run, or the list is that of an agent. */
  readonly state: 'same' | 'changed' | 'gone' | 'unknown';
  /** What changed, safe to display. */
  readonly diff?: readonly string[];
}

export interface PinsOptions {
  readonly mode: PinMode;
  readonly store: PinStore;
  readonly events: Events;
  readonly now: () => number;
  readonly findTool: (server: string, tool: string) => CatalogTool | undefined;
  readonly toolsOf: (server: string) => readonly CatalogTool[];
}

type Tools = ReadonlyMap<string, CatalogTool>;

/** The tools of a server, as listed with its own credentials or with those of an agent. */
interface PinnedList {
  readonly server: string;
  readonly agent?: string | undefined;
}

interface PinToolsOptions {
  readonly servers?: readonly string[];
  /** Called when it is this change's turn; throws if the change is no longer wanted. */
  readonly confirm?: (() => void) | undefined;
}

export class Pins {
  readonly #options: PinsOptions;
  readonly #hashes = new WeakMap<CatalogTool, string>();
  /** The agents of tools that only an agent's own list has. */
  readonly #agents = new WeakMap<CatalogTool, string>();
  /** By list, then by tool. */
  #pins = new Map<string, Map<string, Pin>>();
  /** The lists that were pinned as a whole: what is new in them needs approval. */
  #lists: ReadonlySet<string> = new Set();
  /** Pinned at first use and not on disk yet: reloading the file does not remove these. */
  readonly #unsaved = new Map<string, readonly Pin[]>();
  #failure: TurnbuckleError | undefined;
  /** One at a time, so that an older read never overwrites a newer one. */
  readonly #enqueue = createSerialQueue();
  /** A load that waits for its turn. */
  #nextLoad: Promise<void> | undefined;
  /** Increases with every change. */
  version = 0;

  constructor(options: PinsOptions) {
    this.#options = options;
  }

  /** Loads the pin file. Never rejects: with an unusable file, every tool needs approval. */
  async load(): Promise<void> {
    if (this.#options.mode === 'off') return;
    // One that has not started yet reads what this one would read.
    this.#nextLoad ??= this.#enqueue(async () => {
      this.#nextLoad = undefined;
      try {
        const content = await this.#options.store.read();
        if (content === undefined) return;
        this.#failure = undefined;
        this.#apply(content);
      } catch (error) {
        this.#failure = toTurnbuckleError(error);
        this.version += 1;
      }
    });
    return this.#nextLoad;
  }

  /** False if no call can be affected, so that the hot path can skip the check. */
  get active(): boolean {
    return this.#pins.size > 0 || this.#lists.size > 0 || this.#failure !== undefined;
  }

  /** Why a tool needs approval; undefined if it matches its pin or has none. */
  faultOf(
    { server, tool: name }: { readonly server: string; readonly tool: string },
    tool = this.#options.findTool(server, name),
  ): PinFault | undefined {
    if (tool === undefined || tool.native) return undefined;
    if (this.#failure !== undefined) return 'unreadable';
    const pin = this.#pinOf(tool);
    if (pin !== undefined) return pin.hash === this.hashOf(tool) ? undefined : 'changed';
    return this.#isPinned(server, this.#agents.get(tool)) ? 'new' : undefined;
  }

  /** Whether the tool or its server is pinned. */
  appliesTo(server: string, tool: string): boolean {
    const list = listKey({ server });
    return this.#pins.get(list)?.has(tool) === true || this.#lists.has(list);
  }

  /** That of the agent's own list, if the tool is from there and has one; else that of the server. */
  #pinOf(tool: CatalogTool): Pin | undefined {
    const { server, tool: name } = tool;
    const agent = this.#agents.get(tool);
    const own = agent === undefined ? undefined : this.#pins.get(listKey({ server, agent }))?.get(name);
    return own ?? this.#pins.get(listKey({ server }))?.get(name);
  }

  /** Whether the list was pinned as a whole. */
  #isPinned(server: string, agent: string | undefined): boolean {
    if (this.#lists.has(listKey({ server }))) return true;
    return agent !== undefined && this.#lists.has(listKey({ server, agent }));
  }

  /** What changed since the tool was approved; undefined if it is not pinned. */
  diffSinceApproval(tool: CatalogTool): readonly string[] | undefined {
    const pin = this.#pinOf(tool);
    return pin === undefined ? undefined : diffFrom(pin, tool);
  }

  hashOf(tool: CatalogTool): string {
    const known = this.#hashes.get(tool);
    if (known !== undefined) return known;
    const hash = fingerprint(tool.definition);
    this.#hashes.set(tool, hash);
    return hash;
  }

  /** Every pin with the state of its tool, as far as known. */
  list(): PinStatus[] {
    if (this.#failure !== undefined) throw this.#failure;
    return [...this.#pins.values()].flatMap((pins) => [...pins.values()].map((pin) => this.#statusOf(pin)));
  }

  /** Approves the current definition of a tool, or of all tools of a server. Resolves once it is stored. */
  async pin(server: string, tool?: string, confirm?: () => void): Promise<readonly string[]> {
    const found = this.#options.toolsOf(server).filter((one) => tool === undefined || one.tool === tool);
    if (found.length === 0)
      throw new TurnbuckleError(
        'TOOL_UNKNOWN',
        `Server "${server}" does not currently list ${tool === undefined ? 'any tools' : `a tool "${tool}"`}.`,
        {
          server,
          tool,
          hint: 'Connect the server first. Only a tool that the server lists can be approved.',
        },
      );
    await this.pinTools(found, 'command', { servers: tool === undefined ? [server] : [], confirm });
    return found.map((one) => one.tool);
  }

  /** Removes pins; returns the names of the unpinned tools. */
  async unpin(server: string, tool?: string, confirm?: () => void): Promise<readonly string[]> {
    const isMeant = (pin: Pin): boolean => pin.server === server && (tool === undefined || pin.tool === tool);
    let removed: readonly string[] = [];
    await this.#change((before) => {
      confirm?.();
      removed = [...new Set(before.pins.filter(isMeant).map((pin) => pin.tool))];
      if (tool === undefined) return withoutServer(before, server);
      return { ...before, pins: before.pins.filter((pin) => !isMeant(pin)) };
    });
    return removed;
  }

  /** Pins the current definitions of these tools. Stores nothing in mode `off`. */
  async pinTools(
    tools: readonly CatalogTool[],
    by: Pin['by'],
    { servers = [], confirm }: PinToolsOptions = {},
  ): Promise<void> {
    if (this.#options.mode === 'off') return;
    const fresh = this.#toPins(
      tools.filter((tool) => !tool.native),
      by,
    );
    const replaced = new Set(fresh.map(keyOf));
    await this.#change((before) => {
      confirm?.();
      return {
        ...before,
        pins: [...before.pins.filter((pin) => !replaced.has(keyOf(pin))), ...fresh],
        servers: [...new Set([...before.servers, ...servers])],
      };
    });
  }

  /** Computes hashes ahead of `onToolsRead`, tool by tool, because a large list takes long. */
  prepare(tool: CatalogTool): void {
    const { mode, events } = this.#options;
    if (mode === 'all' || this.appliesTo(tool.server, tool.tool) || events.has('tool.changed'))
      fingerprint(tool.definition);
  }

  /** Called after the tools of a server were listed: pins at first use, and reports changes. */
  onToolsRead(server: string, before: Tools, after: Tools): void {
    const { mode } = this.#options;
    // Another process may have pinned something since.
    void this.load();
    if (mode === 'all' && !this.#isPinned(server, undefined)) this.#pinOnFirstUse({ server }, after);
    // The event is optional: a failure here must not stop the caller.
    if (this.#options.events.has('tool.changed'))
      void inSlices(this.#emitChanges(server, before, after)).catch(() => {});
  }

  /**
   * The same for the tools that a server listed with the credentials of this agent. The list of the server itself goes
   * first: if it was pinned, only that counts.
   */
  onAgentToolsRead(list: AgentList, tools: Tools): void {
    for (const tool of tools.values()) this.#agents.set(tool, list.agent);
    void this.load();
    if (this.#options.mode === 'all' && !this.#isPinned(list.server, list.agent))
      this.#pinOnFirstUse(list, tools);
  }

  /** Resolves when everything is on disk. */
  flush(): Promise<unknown> {
    return this.#enqueue(() => {});
  }

  /** Effective immediately, written to disk a little later, unless another process was first. */
  #pinOnFirstUse(list: PinnedList, tools: Tools): void {
    if (this.#failure !== undefined || tools.size === 0) return;
    const key = listKey(list);
    const fresh = this.#toPins([...tools.values()], 'first-use');
    this.#unsaved.set(key, fresh);
    this.#addUnsaved();
    void this.#change((before) => {
      this.#unsaved.delete(key);
      if (pinnedLists(before).has(key)) return before;
      const there = new Set(before.pins.map(keyOf));
      return {
        ...withList(before, list),
        pins: [...before.pins, ...fresh.filter((pin) => !there.has(keyOf(pin)))],
      };
    }).catch((error: unknown) => {
      // Effective for this run only; the next run pins at first use again.
      this.#unsaved.set(key, fresh);
      this.#addUnsaved();
      for (const { server, tool } of fresh)
        this.#options.events.emit('approval.lost', { server, tool, error });
    });
  }

  #change(change: (before: PinFile) => PinFile): Promise<void> {
    return this.#enqueue(async () => {
      const content = await this.#options.store.change(change);
      this.#failure = undefined;
      this.#apply(content);
    });
  }

  #apply(content: PinFile): void {
    const all = new Map<string, Map<string, Pin>>();
    for (const pin of content.pins) {
      const list = listKey(pin);
      all.set(list, (all.get(list) ?? new Map()).set(pin.tool, pin));
    }
    this.#pins = all;
    const tested = (content.tested ?? []).map((server) => listKey({ server }));
    this.#lists = new Set([...(this.#options.mode === 'all' ? pinnedLists(content) : []), ...tested]);
    this.#addUnsaved();
  }

  #addUnsaved(): void {
    this.version += 1;
    for (const [list, pins] of this.#unsaved) {
      const known = this.#pins.get(list) ?? new Map<string, Pin>();
      for (const pin of pins) if (!known.has(pin.tool)) known.set(pin.tool, pin);
      this.#pins.set(list, known);
    }
    if (this.#unsaved.size > 0) this.#lists = new Set([...this.#lists, ...this.#unsaved.keys()]);
  }

  #toPins(tools: readonly CatalogTool[], by: Pin['by']): Pin[] {
    const pinnedAt = new Date(this.#options.now()).toISOString();
    const pinOf = createDefinitionPins(MAX_TOTAL_LENGTH);
    return tools.map((tool) => {
      const { server, tool: name, definition } = tool;
      const agent = this.#agents.get(tool);
      const whose = agent !== undefined && { agent };
      return { server, tool: name, ...whose, ...pinOf(definition), by, pinnedAt };
    });
  }

  #statusOf(pin: Pin): PinStatus {
    const { findTool, toolsOf } = this.#options;
    if (pin.agent !== undefined) return { ...pin, state: 'unknown' };
    const tool = findTool(pin.server, pin.tool);
    if (tool === undefined) return { ...pin, state: toolsOf(pin.server).length === 0 ? 'unknown' : 'gone' };
    if (this.hashOf(tool) === pin.hash) return { ...pin, state: 'same' };
    return { ...pin, state: 'changed', diff: diffFrom(pin, tool) };
  }

  *#emitChanges(server: string, before: Tools, after: Tools): Steps<void> {
    const { events } = this.#options;
    const tell = (tool: string, since: 'last-list' | 'approval', diff: readonly string[]): void =>
      events.emit('tool.changed', { server, tool, since, diff });
    const gone = yield* findRemovedTools(before, after);
    for (const [name, tool] of after) {
      yield;
      const old = before.get(name) ?? (gone.size === 0 ? undefined : gone.get(namelessFingerprint(tool)));
      const pin = this.#pins.get(listKey({ server }))?.get(name);
      if (before.has(name) && old !== undefined && this.hashOf(old) === this.hashOf(tool)) continue;
      if (pin !== undefined && pin.hash !== this.hashOf(tool)) tell(name, 'approval', diffFrom(pin, tool));
      else if (old !== undefined) tell(name, 'last-list', diffDefinitions(old.definition, tool.definition));
    }
  }
}

const keyOf = ({ server, tool, agent }: Pin): string => JSON.stringify([server, tool, agent ?? null]);

const listKey = ({ server, agent }: PinnedList): string =>
  JSON.stringify(agent === undefined ? [server] : [server, agent]);

const pinnedLists = ({ servers, agents = [] }: PinFile): Set<string> =>
  new Set([...servers.map((server) => listKey({ server })), ...agents.map(listKey)]);

function withList(file: PinFile, { server, agent }: PinnedList): PinFile {
  return agent === undefined
    ? { ...file, servers: [...file.servers, server] }
    : { ...file, agents: [...(file.agents ?? []), { server, agent }] };
}

function diffFrom({ definition }: Pin, tool: CatalogTool): readonly string[] {
  return definition === undefined
    ? ['The definition changed. The approved definition was too large to store, so no details are available.']
    : diffDefinitions(definition, tool.definition);
}

/** Removed tools by their content without the name: a new tool with the same content was renamed. */
function* findRemovedTools(before: Tools, after: Tools): Steps<ReadonlyMap<string, CatalogTool>> {
  const gone = new Map<string, CatalogTool>();
  for (const tool of before.values()) {
    if (after.has(tool.tool)) continue;
    gone.set(namelessFingerprint(tool), tool);
    yield;
  }
  return gone;
}

const namelessFingerprint = ({ definition }: CatalogTool): string => fingerprint({ ...definition, name: '' });
