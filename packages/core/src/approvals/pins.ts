/**
 * Holds tools to the definition that was approved: knows the pins, says what is wrong with a tool, and tells
 * when one changes. Reads and writes through pin-store.ts.
 */
import { countedLength, fingerprint } from './catalog/fingerprint.js';
import type { CatalogTool } from './catalog/tool.js';
import type { PinMode } from './config/rule-schema.js';
import { TurnbuckleError, toTurnbuckleError } from './errors.js';
import type { Events } from './events.js';
import { inSlices, type Steps } from './json/slices.js';
import type { Pin, PinFile, PinStore } from './pin-store.js';
import type { PinFault } from './policy/decide.js';
import { COUNTED_FIELDS, diffDefinitions } from './policy/definition-diff.js';

/** Larger definitions are pinned by their hash alone. */
const MOST_DEFINITION = 65_536;
/** The same for those that come after so much, of all that are pinned together: the file is read and written as a whole. */
const MOST_TOGETHER = 512 * 1_024;

/** A pin beside what the tool is now. */
export interface PinStatus extends Pin {
  /** `unknown`: its server has not been asked in this run. */
  readonly state: 'same' | 'changed' | 'gone' | 'unknown';
  /** What changed, safe to show. */
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

interface KeepOptions {
  readonly servers?: readonly string[];
  /** Called when its turn has come: throws where it is not wanted any more. */
  readonly confirm?: (() => void) | undefined;
}

export class Pins {
  readonly #options: PinsOptions;
  readonly #hashes = new WeakMap<CatalogTool, string>();
  #pins = new Map<string, Map<string, Pin>>();
  #servers: ReadonlySet<string> = new Set();
  /** Seen for the first time and not on disk yet: what the file says meanwhile does not undo it. */
  readonly #unsaved = new Map<string, readonly Pin[]>();
  #failure: TurnbuckleError | undefined;
  #last: Promise<unknown> = Promise.resolve();
  /** Another one after each change of what is pinned. */
  version = 0;

  constructor(options: PinsOptions) {
    this.#options = options;
  }

  /** Takes over what the file says. Never rejects: an unusable file holds everything back. */
  async load(): Promise<void> {
    if (this.#options.mode === 'off') return;
    await this.#inTurn(async () => {
      try {
        const content = await this.#options.store.read();
        if (content === undefined) return;
        this.#failure = undefined;
        this.#take(content);
      } catch (error) {
        this.#failure = toTurnbuckleError(error);
        this.version += 1;
      }
    });
  }

  /** True when some call may be held back: the hot path need not ask otherwise. */
  get active(): boolean {
    return this.#pins.size > 0 || this.#servers.size > 0 || this.#failure !== undefined;
  }

  /** What is wrong with a tool; undefined when it is the approved one, or none was. */
  faultOf(
    { server, tool: name }: { readonly server: string; readonly tool: string },
    tool = this.#options.findTool(server, name),
  ): PinFault | undefined {
    if (tool === undefined || tool.native) return undefined;
    if (this.#failure !== undefined) return 'unreadable';
    const pin = this.#pins.get(server)?.get(name);
    if (pin !== undefined) return pin.hash === this.hashOf(tool) ? undefined : 'changed';
    return this.#options.mode === 'all' && this.#servers.has(server) ? 'new' : undefined;
  }

  /** Whether a tool is held to a definition, or would be to none. */
  holds(server: string, tool: string): boolean {
    return this.#pins.get(server)?.has(tool) === true || this.#servers.has(server);
  }

  /** What changed since a tool was approved; undefined when nothing is pinned for it. */
  changeOf(tool: CatalogTool): readonly string[] | undefined {
    const pin = this.#pins.get(tool.server)?.get(tool.tool);
    return pin === undefined ? undefined : diffFrom(pin, tool);
  }

  hashOf(tool: CatalogTool): string {
    const known = this.#hashes.get(tool);
    if (known !== undefined) return known;
    const hash = fingerprint(tool.definition);
    this.#hashes.set(tool, hash);
    return hash;
  }

  /** Every pin, with what became of its tool as far as that is known. */
  list(): PinStatus[] {
    if (this.#failure !== undefined) throw this.#failure;
    return [...this.#pins.values()].flatMap((pins) => [...pins.values()].map((pin) => this.#statusOf(pin)));
  }

  /** Takes a tool as it is now for the approved one, or all tools of a server. Resolves when it is kept. */
  async pin(server: string, tool?: string, confirm?: () => void): Promise<readonly string[]> {
    const found = this.#options.toolsOf(server).filter((one) => tool === undefined || one.tool === tool);
    if (found.length === 0)
      throw new TurnbuckleError('TOOL_UNKNOWN', `Server "${server}" has no such tool now.`, {
        server,
        tool,
        hint: 'Connect the server first: what it does not offer cannot be approved.',
      });
    await this.keep(found, 'command', { servers: tool === undefined ? [server] : [], confirm });
    return found.map((one) => one.tool);
  }

  /** Forgets what was approved; answers the names of the tools that had a pin. */
  async unpin(server: string, tool?: string, confirm?: () => void): Promise<readonly string[]> {
    const isMeant = (pin: Pin): boolean => pin.server === server && (tool === undefined || pin.tool === tool);
    let removed: readonly string[] = [];
    await this.#change(({ pins, servers }) => {
      confirm?.();
      removed = pins.filter(isMeant).map((pin) => pin.tool);
      return {
        pins: pins.filter((pin) => !isMeant(pin)),
        servers: tool === undefined ? servers.filter((name) => name !== server) : servers,
      };
    });
    return removed;
  }

  /** Pins these tools as they are. With mode `off` nothing is kept. */
  async keep(
    tools: readonly CatalogTool[],
    by: Pin['by'],
    { servers = [], confirm }: KeepOptions = {},
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
        pins: [...before.pins.filter((pin) => !replaced.has(keyOf(pin))), ...fresh],
        servers: [...new Set([...before.servers, ...servers])],
      };
    });
  }

  /** Does ahead, tool by tool, what `note` would take long for with a large list. */
  prepare(tool: CatalogTool): void {
    const { mode, events } = this.#options;
    if (mode === 'all' || this.holds(tool.server, tool.tool) || events.has('tool.changed'))
      fingerprint(tool.definition);
  }

  /** A server's tools were read: pins what is seen for the first time, and tells what changed. */
  note(server: string, before: Tools, after: Tools): void {
    const { mode } = this.#options;
    // Another process may have pinned something since.
    void this.load();
    if (mode === 'all' && !this.#servers.has(server) && this.#failure === undefined && after.size > 0)
      this.#firstUse(server, [...after.values()]);
    // What changed can also be seen in the list: what cannot be told is no reason to end.
    if (this.#options.events.has('tool.changed'))
      void inSlices(this.#tellChanges(server, before, after)).catch(() => {});
  }

  /** Resolves when everything is on disk. */
  flush(): Promise<unknown> {
    return this.#last;
  }

  /** In force at once; on disk a little later, unless another process was first. */
  #firstUse(server: string, tools: readonly CatalogTool[]): void {
    const fresh = this.#toPins(tools, 'first-use');
    this.#unsaved.set(server, fresh);
    this.#addUnsaved();
    void this.#change(({ pins, servers }) => {
      this.#unsaved.delete(server);
      if (servers.includes(server)) return { pins, servers };
      const there = new Set(pins.map(keyOf));
      return {
        pins: [...pins, ...fresh.filter((pin) => !there.has(keyOf(pin)))],
        servers: [...servers, server],
      };
    }).catch((error: unknown) => {
      // They hold for this run; the next one sees the server for the first time again.
      this.#unsaved.set(server, fresh);
      this.#addUnsaved();
      for (const { tool } of fresh) this.#options.events.emit('approval.lost', { server, tool, error });
    });
  }

  #change(change: (before: PinFile) => PinFile): Promise<void> {
    return this.#inTurn(async () => {
      const content = await this.#options.store.change(change);
      this.#failure = undefined;
      this.#take(content);
    });
  }

  /** One after the other: what was read first must not be taken over last. */
  #inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const next = this.#last.then(work);
    this.#last = next.catch(() => {});
    return next;
  }

  #take({ pins, servers }: PinFile): void {
    const all = new Map<string, Map<string, Pin>>();
    for (const pin of pins) all.set(pin.server, (all.get(pin.server) ?? new Map()).set(pin.tool, pin));
    this.#pins = all;
    this.#servers = new Set(this.#options.mode === 'all' ? servers : []);
    this.#addUnsaved();
  }

  #addUnsaved(): void {
    this.version += 1;
    for (const [server, pins] of this.#unsaved) {
      const known = this.#pins.get(server) ?? new Map<string, Pin>();
      for (const pin of pins) if (!known.has(pin.tool)) known.set(pin.tool, pin);
      this.#pins.set(server, known);
    }
    if (this.#unsaved.size > 0) this.#servers = new Set([...this.#servers, ...this.#unsaved.keys()]);
  }

  #toPins(tools: readonly CatalogTool[], by: Pin['by']): Pin[] {
    const pinnedAt = new Date(this.#options.now()).toISOString();
    let together = 0;
    return tools.map((tool) => {
      const { server, tool: name, definition } = tool;
      const length = countedLength(definition);
      const isSmall = length <= MOST_DEFINITION && together + length <= MOST_TOGETHER;
      if (isSmall) together += length;
      const kept = isSmall && { definition: countedOf(definition) };
      return { server, tool: name, hash: this.hashOf(tool), ...kept, by, pinnedAt };
    });
  }

  #statusOf(pin: Pin): PinStatus {
    const { findTool, toolsOf } = this.#options;
    const tool = findTool(pin.server, pin.tool);
    if (tool === undefined) return { ...pin, state: toolsOf(pin.server).length === 0 ? 'unknown' : 'gone' };
    if (this.hashOf(tool) === pin.hash) return { ...pin, state: 'same' };
    return { ...pin, state: 'changed', diff: diffFrom(pin, tool) };
  }

  *#tellChanges(server: string, before: Tools, after: Tools): Steps<void> {
    const { events } = this.#options;
    const tell = (tool: string, since: 'last-list' | 'approval', diff: readonly string[]): void =>
      events.emit('tool.changed', { server, tool, since, diff });
    const gone = yield* goneFrom(before, after);
    for (const [name, tool] of after) {
      yield;
      const old = before.get(name) ?? (gone.size === 0 ? undefined : gone.get(nameless(tool)));
      const pin = this.#pins.get(server)?.get(name);
      if (before.has(name) && old !== undefined && this.hashOf(old) === this.hashOf(tool)) continue;
      if (pin !== undefined && pin.hash !== this.hashOf(tool)) tell(name, 'approval', diffFrom(pin, tool));
      else if (old !== undefined) tell(name, 'last-list', diffDefinitions(old.definition, tool.definition));
    }
  }
}

const countedOf = (definition: CatalogTool['definition']): Readonly<Record<string, unknown>> =>
  Object.fromEntries(COUNTED_FIELDS.flatMap((key) => (key in definition ? [[key, definition[key]]] : [])));

const keyOf = ({ server, tool }: { server: string; tool: string }): string => JSON.stringify([server, tool]);

function diffFrom({ definition }: Pin, tool: CatalogTool): readonly string[] {
  return definition === undefined
    ? ['The approved definition was too large to be kept: only that it is another one is known.']
    : diffDefinitions(definition, tool.definition);
}

/** Tools that are gone, by what they were but for their names: one of the same content was renamed. */
function* goneFrom(before: Tools, after: Tools): Steps<ReadonlyMap<string, CatalogTool>> {
  const gone = new Map<string, CatalogTool>();
  for (const tool of before.values()) {
    if (after.has(tool.tool)) continue;
    gone.set(nameless(tool), tool);
    yield;
  }
  return gone;
}

const nameless = ({ definition }: CatalogTool): string => fingerprint({ ...definition, name: '' });
