/**
 * The flags of everything in the catalog. Computed on demand or when someone listens for `catalog.flagged`, and
 * cached: unused lists cost nothing.
 */
import type { Events } from '../events.js';
import { inSlices, type Steps } from '../json/slices.js';
import { collectText, type Flag, scanDefinition } from './flags.js';
import { type MentionableTool, MentionIndex } from './mentions.js';

type Definition = Readonly<Record<string, unknown>>;

export interface Flaggable {
  readonly server: string;
  readonly kind: 'server' | 'tool' | 'resource' | 'template' | 'prompt';
  /** Its name or URI. */
  readonly item: string;
  readonly definition: Definition;
}

export class FlagIndex {
  readonly #events: Events;
  readonly #tools: () => Iterable<MentionableTool>;
  readonly #flaggable: () => Iterable<Flaggable>;
  /** All configured servers, connected or not. */
  readonly #servers = new Set<string>();
  readonly #ownFlags = new WeakMap<Definition, readonly Flag[]>();
  readonly #allFlags = new WeakMap<
    Definition,
    { readonly index: MentionIndex; readonly flags: readonly Flag[] }
  >();
  readonly #reported = new Map<string, Map<string, string>>();
  readonly #queue = new Map<string, Flaggable>();
  #isScanning = false;
  #isScanEnabled = false;
  #mentions: MentionIndex | undefined;

  constructor(events: Events, tools: () => Iterable<MentionableTool>, flaggable: () => Iterable<Flaggable>) {
    this.#events = events;
    this.#tools = tools;
    this.#flaggable = flaggable;
    events.on('server.added', ({ server }) => {
      this.#servers.add(server);
      this.invalidate();
      this.scan(this.#flaggable());
    });
    events.on('server.removed', ({ server }) => {
      this.#servers.delete(server);
      this.#reported.delete(server);
      for (const [key, entry] of this.#queue) if (entry.server === server) this.#queue.delete(key);
      this.invalidate();
      this.scan(this.#flaggable());
    });
  }

  /** For rules: the first call after a change should not wait for all of them. */
  enableScan(): void {
    if (this.#isScanEnabled) return;
    this.#isScanEnabled = true;
    this.scan(this.#flaggable());
  }

  /** Servers or tools changed: mentions have to be computed again. */
  invalidate(): void {
    this.#mentions = undefined;
  }

  flagsOf(server: string, definition: Definition): readonly Flag[] {
    this.#mentions ??= new MentionIndex(this.#servers, this.#tools());
    const known = this.#allFlags.get(definition);
    if (known?.index === this.#mentions) return known.flags;
    const collected = collectText(definition);
    const own = this.#ownFlags.get(definition) ?? scanDefinition(definition, collected);
    this.#ownFlags.set(definition, own);
    const flags: readonly Flag[] = this.#mentions.mentionsOther(collected.text, server)
      ? [...own, 'mentions-other-server']
      : own;
    this.#allFlags.set(definition, { index: this.#mentions, flags });
    return flags;
  }

  /** Scans these soon and reports flagged items once per change. Does nothing without a listener. */
  scan(entries: Iterable<Flaggable>): void {
    if (!this.#isScanEnabled && !this.#events.has('catalog.flagged')) return;
    for (const entry of entries)
      this.#queue.set(JSON.stringify([entry.kind, entry.server, entry.item]), entry);
    if (this.#queue.size === 0 || this.#isScanning) return;
    this.#isScanning = true;
    // Deferred: more changes may follow.
    setImmediate(() => void inSlices(this.#scanQueue()).catch(() => {})).unref();
  }

  *#scanQueue(): Steps<void> {
    try {
      for (const [key, entry] of this.#queue) {
        this.#queue.delete(key);
        this.#scanEntry(key, entry);
        yield;
      }
    } finally {
      this.#isScanning = false;
    }
  }

  #scanEntry(key: string, { server, kind, item, definition }: Flaggable): void {
    const flags = this.flagsOf(server, definition);
    const reported = this.#reported.get(server) ?? new Map<string, string>();
    this.#reported.set(server, reported);
    const now = flags.join(' ');
    if ((reported.get(key) ?? '') === now) return;
    reported.set(key, now);
    if (flags.length > 0) this.#events.emit('catalog.flagged', { server, kind, item, flags });
  }
}
