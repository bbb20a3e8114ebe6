/**
 * The flags of everything in the catalog. Looked for when somebody asks for them or listens for
 * `catalog.flagged`, and remembered: a list that nobody looks at costs nothing.
 */
import type { Events } from '../events.js';
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
  /** All that are configured, whether or not they have ever been up. */
  readonly #servers = new Set<string>();
  readonly #own = new WeakMap<Definition, readonly Flag[]>();
  readonly #all = new WeakMap<
    Definition,
    { readonly index: MentionIndex; readonly flags: readonly Flag[] }
  >();
  readonly #told = new Map<string, Map<string, string>>();
  readonly #waiting = new Map<string, Flaggable>();
  #turn: NodeJS.Immediate | undefined;
  #index: MentionIndex | undefined;

  constructor(events: Events, tools: () => Iterable<MentionableTool>) {
    this.#events = events;
    this.#tools = tools;
    events.on('server.added', ({ server }) => {
      this.#servers.add(server);
      this.changed();
    });
    events.on('server.removed', ({ server }) => {
      this.#servers.delete(server);
      this.#told.delete(server);
      for (const [key, entry] of this.#waiting) if (entry.server === server) this.#waiting.delete(key);
      this.changed();
    });
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

  /** Looks at these soon and tells of what is flagged, once until its flags are others. Nothing while nobody listens. */
  tell(entries: Iterable<Flaggable>): void {
    if (!this.#events.has('catalog.flagged')) return;
    for (const entry of entries)
      this.#waiting.set(JSON.stringify([entry.kind, entry.server, entry.item]), entry);
    if (this.#waiting.size > 0) this.#turn ??= setImmediate(() => this.#lookAtSome()).unref();
  }

  /** As many as fit into a moment: a long list must not hold everything else up. */
  #lookAtSome(): void {
    this.#turn = undefined;
    const until = performance.now() + TURN_MS;
    for (const [key, entry] of this.#waiting) {
      this.#waiting.delete(key);
      this.#lookAt(key, entry);
      if (performance.now() >= until) break;
    }
    if (this.#waiting.size > 0) this.#turn = setImmediate(() => this.#lookAtSome()).unref();
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

const TURN_MS = 10;
