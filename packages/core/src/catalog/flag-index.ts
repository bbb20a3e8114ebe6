/**
 * The flags of everything in the catalog. Looked for when somebody asks for them or listens for
 * `catalog.flagged`, and remembered: a list that nobody looks at costs nothing.
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

export class FlagBoard {
  readonly #events: Events;
  readonly #tools: () => Iterable<MentionableTool>;
  readonly #flaggable: () => Iterable<Flaggable>;
  /** All that are configured, whether or not they have ever been up. */
  readonly #servers = new Set<string>();
  readonly #own = new WeakMap<Definition, readonly Flag[]>();
  readonly #all = new WeakMap<
    Definition,
    { readonly index: MentionIndex; readonly flags: readonly Flag[] }
  >();
  readonly #told = new Map<string, Map<string, string>>();
  readonly #waiting = new Map<string, Flaggable>();
  #isLooking = false;
  #isWanted = false;
  #index: MentionIndex | undefined;

  constructor(events: Events, tools: () => Iterable<MentionableTool>, flaggable: () => Iterable<Flaggable>) {
    this.#events = events;
    this.#tools = tools;
    this.#flaggable = flaggable;
    events.on('server.added', ({ server }) => {
      this.#servers.add(server);
      this.changed();
      this.tell(this.#flaggable());
    });
    events.on('server.removed', ({ server }) => {
      this.#servers.delete(server);
      this.#told.delete(server);
      for (const [key, entry] of this.#waiting) if (entry.server === server) this.#waiting.delete(key);
      this.changed();
      this.tell(this.#flaggable());
    });
  }

  /** Rules ask for them: whoever comes first after a change must not have to wait for all of them. */
  want(): void {
    if (this.#isWanted) return;
    this.#isWanted = true;
    this.tell(this.#flaggable());
  }

  /** Servers or tools came or went: who speaks about whom is a new question. */
  changed(): void {
    this.#index = undefined;
  }

  flagsOf(server: string, definition: Definition): readonly Flag[] {
    this.#index ??= new MentionIndex(this.#servers, this.#tools());
    const known = this.#all.get(definition);
    if (known?.index === this.#index) return known.flags;
    const collected = collectText(definition);
    const own = this.#own.get(definition) ?? scanDefinition(definition, collected);
    this.#own.set(definition, own);
    const flags: readonly Flag[] = this.#index.mentionsOther(collected.text, server)
      ? [...own, 'mentions-other-server']
      : own;
    this.#all.set(definition, { index: this.#index, flags });
    return flags;
  }

  /** Looks at these soon and tells of what is flagged, once until its flags are others. Nothing while nobody wants it. */
  tell(entries: Iterable<Flaggable>): void {
    if (!this.#isWanted && !this.#events.has('catalog.flagged')) return;
    for (const entry of entries)
      this.#waiting.set(JSON.stringify([entry.kind, entry.server, entry.item]), entry);
    if (this.#waiting.size === 0 || this.#isLooking) return;
    this.#isLooking = true;
    // Later: what is told now may not be all that changes.
    setImmediate(() => void inSlices(this.#lookAtAll()).catch(() => {})).unref();
  }

  *#lookAtAll(): Steps<void> {
    try {
      for (const [key, entry] of this.#waiting) {
        this.#waiting.delete(key);
        this.#lookAt(key, entry);
        yield;
      }
    } finally {
      this.#isLooking = false;
    }
  }

  #lookAt(key: string, { server, kind, item, definition }: Flaggable): void {
    const flags = this.flagsOf(server, definition);
    const told = this.#told.get(server) ?? new Map<string, string>();
    this.#told.set(server, told);
    const now = flags.join(' ');
    if ((told.get(key) ?? '') === now) return;
    told.set(key, now);
    if (flags.length > 0) this.#events.emit('catalog.flagged', { server, kind, item, flags });
  }
}
