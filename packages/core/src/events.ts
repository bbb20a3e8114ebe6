/**
 * What happened, as data. Metrics, logs, energy and consoles listen here; a listener that throws is
 * reported as `listener.failed` and never touches the caller.
 */
import type { TurnbuckleError } from './errors.js';

export interface CallStarted {
  readonly requestId: string;
  readonly server: string;
  readonly tool: string;
  readonly toolName: string;
  readonly callerId: string | undefined;
  readonly kind: CallKind;
  readonly startedAt: number;
}

export type CallKind = 'tool' | 'resource' | 'prompt';

/** Emitted exactly once for each call, whatever happened to it. */
export interface CallSettled extends CallStarted {
  readonly durationMs: number;
  /** ok: a result; tool-error: a result with isError; failed: no result, see `error`. */
  readonly outcome: 'ok' | 'tool-error' | 'failed';
  readonly error: TurnbuckleError | undefined;
  readonly attempts: number;
  readonly arguments: unknown;
  readonly result: unknown;
}

export interface RuntimeEvents {
  'call.started': CallStarted;
  'call.settled': CallSettled;
  'call.progress': {
    readonly requestId: string;
    readonly server: string;
    readonly tool: string;
    readonly progress: number;
    readonly total?: number | undefined;
    readonly message?: string | undefined;
  };
  'call.decided': {
    readonly server: string;
    readonly tool: string;
    readonly callerId: string | undefined;
    readonly decision: 'allow' | 'ask' | 'deny';
    readonly reason: string;
  };
  'server.state': {
    readonly server: string;
    readonly from: string;
    readonly to: string;
    readonly error: TurnbuckleError | undefined;
  };
  /** Told once for each episode of failure, with the next step in `error.hint`. */
  'server.failed': { readonly server: string; readonly error: TurnbuckleError };
  'server.recovered': { readonly server: string; readonly afterMs: number };
  'server.added': { readonly server: string };
  'server.removed': { readonly server: string };
  'server.toggled': { readonly server: string; readonly enabled: boolean };
  /** A log message or notice of a server: untrusted text. */
  'server.notice': { readonly server: string; readonly level: string; readonly data: unknown };
  'catalog.changed': {
    readonly server: string;
    readonly kind: 'tools' | 'resources' | 'prompts';
    readonly added: readonly string[];
    readonly removed: readonly string[];
    readonly changed: readonly string[];
  };
  'catalog.dropped': { readonly server: string; readonly item: string; readonly reason: string };
  'capability.ambiguous': {
    readonly callerId: string;
    readonly capability: string;
    readonly meanings: readonly string[];
  };
  'resource.updated': { readonly server: string; readonly uri: string };
  'listener.failed': { readonly event: string; readonly error: unknown };
}

export type EventName = keyof RuntimeEvents;
export type Listener<Name extends EventName> = (event: RuntimeEvents[Name]) => void;

type AnyListener = (event: never) => void;

/** A typed emitter: listeners run synchronously, in order, isolated from each other. */
export class Events {
  readonly #listeners = new Map<EventName, Set<AnyListener>>();

  on<Name extends EventName>(name: Name, listener: Listener<Name>): () => void {
    const set = this.#listeners.get(name) ?? new Set<AnyListener>();
    this.#listeners.set(name, set);
    set.add(listener);
    return () => void set.delete(listener);
  }

  /** True when somebody listens: lets the hot path skip building an event nobody wants. */
  has(name: EventName): boolean {
    return (this.#listeners.get(name)?.size ?? 0) > 0;
  }

  emit<Name extends EventName>(name: Name, event: RuntimeEvents[Name]): void {
    const set = this.#listeners.get(name);
    if (set === undefined) return;
    for (const listener of set) {
      try {
        // The set of a name only ever holds listeners of that name: `on` is its one writer.
        (listener as Listener<Name>)(event);
      } catch (error) {
        if (name !== 'listener.failed') this.emit('listener.failed', { event: name, error });
      }
    }
  }
}
