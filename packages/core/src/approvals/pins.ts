/** Compares tools with their approved definitions, and reports changes. Reads and writes through pin-store.ts. */

import { createSerialQueue } from '../async/serial-queue.js';
import { diffDefinitions, FINGERPRINTED_FIELDS } from '../catalog/definition-diff.js';
import { fingerprint, fingerprintedLength } from '../catalog/fingerprint.js';
import type { CatalogTool } from '../catalog/tool.js';
import type { PinMode } from '../config/schema/rule-schema.js';
import { TurnbuckleError, toTurnbuckleError } from '../errors.js';
import type { Events } from '../events.js';
import { inSlices, type Steps } from '../json/slices.js';
import type { PinFault } from '../policy/decide.js';
import type { Pin, PinFile, PinStore } from './pin-store.js';

/** Larger definitions are pinned by their hash alone. */
const MAX_DEFINITION_LENGTH = 65_536;
/**
 * Once all stored definitions reach this size, further ones are pinned by hash too: the file is read and written as a
 * whole.
 */
const MAX_TOTAL_LENGTH = 512 * 1_024;

/** A pin with the current state of its tool. */
export interface PinStatus extends Pin {
  /** `unknown`: the tools of its server have not been listed in this run. */
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

interface PinToolsOptions {
  readonly servers?: readonly string[];
  /** Called when it is this change's turn; throws if the change is no longer wanted. */
  readonly confirm?: (() => void) | undefined;
}

export class Pins {
  readonly #options: PinsOptions;
  readonly #hashes = new WeakMap<CatalogTool, string>();
  #pins = new Map<string, Map<string, Pin>>();
  #servers: ReadonlySet<string> = new Set();
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
    return this.#pins.size > 0 || this.#servers.size > 0 || this.#failure !== undefined;
  }

  /** Why a tool needs approval; undefined if it matches its pin or has none. */
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

  /** Whether the tool or its server is pinned. */
  appliesTo(server: string, tool: string): boolean {
    return this.#pins.get(server)?.has(tool) === true || this.#servers.has(server);
  }

  /** What changed since the tool was approved; undefined if it is not pinned. */
  diffSinceApproval(tool: CatalogTool): readonly string[] | undefined {
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
    if (mode === 'all' && !this.#servers.has(server) && this.#failure === undefined && after.size > 0)
      this.#pinOnFirstUse(server, [...after.values()]);
    // The event is optional: a failure here must not stop the caller.
    if (this.#options.events.has('tool.changed'))
      void inSlices(this.#emitChanges(server, before, after)).catch(() => {});
  }

  /** Resolves when everything is on disk. */
  flush(): Promise<unknown> {
    return this.#enqueue(() => {});
  }

  /** Effective immediately, written to disk a little later, unless another process was first. */
  #pinOnFirstUse(server: string, tools: readonly CatalogTool[]): void {
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
      // Effective for this run only; the next run pins at first use again.
      this.#unsaved.set(server, fresh);
      this.#addUnsaved();
      for (const { tool } of fresh) this.#options.events.emit('approval.lost', { server, tool, error });
    });
  }

  #change(change: (before: PinFile) => PinFile): Promise<void> {
    return this.#enqueue(async () => {
      const content = await this.#options.store.change(change);
      this.#failure = undefined;
      this.#apply(content);
    });
  }

  #apply({ pins, servers }: PinFile): void {
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
      const length = fingerprintedLength(definition);
      const isSmall = length <= MAX_DEFINITION_LENGTH && together + length <= MAX_TOTAL_LENGTH;
      if (isSmall) together += length;
      const kept = isSmall && { definition: pickFingerprinted(definition) };
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

  *#emitChanges(server: string, before: Tools, after: Tools): Steps<void> {
    const { events } = this.#options;
    const tell = (tool: string, since: 'last-list' | 'approval', diff: readonly string[]): void =>
      events.emit('tool.changed', { server, tool, since, diff });
    const gone = yield* findRemovedTools(before, after);
    for (const [name, tool] of after) {
      yield;
      const old = before.get(name) ?? (gone.size === 0 ? undefined : gone.get(namelessFingerprint(tool)));
      const pin = this.#pins.get(server)?.get(name);
      if (before.has(name) && old !== undefined && this.hashOf(old) === this.hashOf(tool)) continue;
      if (pin !== undefined && pin.hash !== this.hashOf(tool)) tell(name, 'approval', diffFrom(pin, tool));
      else if (old !== undefined) tell(name, 'last-list', diffDefinitions(old.definition, tool.definition));
    }
  }
}

const pickFingerprinted = (definition: CatalogTool['definition']): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    FINGERPRINTED_FIELDS.flatMap((key) => (key in definition ? [[key, definition[key]]] : [])),
  );

const keyOf = ({ server, tool }: { server: string; tool: string }): string => JSON.stringify([server, tool]);

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
