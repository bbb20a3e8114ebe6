/**
 * What happened, as data. Metrics, logs, energy and consoles listen here; a listener that throws is
 * reported as `listener.failed` and never touches the caller.
 */
import type { TurnbuckleError } from './errors.js';
import type { NotShown } from './json/shortened.js';

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
  /** Without the time that somebody took to approve it. */
  readonly durationMs: number;
  readonly waitedMs: number;
  /** ok: a result; tool-error: a result with isError; failed: no result, see `error`. */
  readonly outcome: 'ok' | 'tool-error' | 'failed';
  readonly error: TurnbuckleError | undefined;
  readonly attempts: number;
  /** What it belongs to of what its caller does, such as a session. */
  readonly run: string | undefined;
  /** What the server speaks. */
  readonly era: 'legacy' | 'modern' | undefined;
  readonly arguments: unknown;
  /** What went to the server beside them, if anything, as a question about the call shows it; absent before that was clear. */
  readonly alsoSent?: Readonly<Record<string, unknown>> | undefined;
  readonly result: unknown;
  /** What was decided about it at last; undefined where it did not come to that. */
  readonly decision: 'allow' | 'ask' | 'deny' | undefined;
  readonly reason: string | undefined;
  /** An `ask` that needed nobody: it was answered for the session. */
  readonly remembered: boolean;
}

/** A rule of the configuration that decided, as an event tells it. */
export interface DecidingRule {
  /** Its place among all rules in effect, from 0. */
  readonly index: number;
  readonly action: 'allow' | 'ask' | 'deny';
  readonly from: string;
  readonly file?: string | undefined;
  readonly line?: number | undefined;
  readonly reason?: string | undefined;
}

/** A question to a person, as data: it survives JSON, and may be answered elsewhere. */
export interface AskedApproval {
  readonly id: string;
  /** The call that waits for it. */
  readonly requestId: string;
  readonly kind: CallKind;
  readonly server: string;
  readonly tool: string;
  readonly toolName: string;
  /** Absent: the host itself. */
  readonly callerId?: string;
  /** What is sent, with what looks like a secret taken out. */
  readonly arguments: Readonly<Record<string, unknown>>;
  /** What goes to the server beside them, if anything: `_meta`, `inputResponses`, `requestState` and further params. */
  readonly alsoSent?: Readonly<Record<string, unknown>>;
  /** True: more is sent than is shown here, by so much. Then the call can be approved only once. */
  readonly isCut?: boolean;
  readonly notShown?: NotShown;
  /** What the tool says about itself: a claim. */
  readonly annotations?: Readonly<Record<string, unknown>>;
  /** Whether the server's claims are believed. */
  readonly trusted: boolean;
  readonly reason: string;
  readonly rule?: DecidingRule;
  /** What the call is expected to cost. */
  readonly energy?: number;
  /** What is different from the definition that was approved: lines that begin with `-` or `+`. */
  readonly change?: readonly string[];
  /** The answers that have an effect; any other yes counts as the next weaker one. */
  readonly answers: readonly ('once' | 'session' | 'always' | 'deny')[];
  /** ISO 8601. */
  readonly createdAt: string;
  readonly expiresAt: string;
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
  /** Every decision about a call, whatever becomes of it. */
  'call.decided': {
    readonly requestId: string;
    readonly server: string;
    readonly tool: string;
    readonly kind: CallKind;
    readonly callerId: string | undefined;
    readonly decision: 'allow' | 'ask' | 'deny';
    readonly reason: string;
    /** The rule that decided, if one did. */
    readonly rule: DecidingRule | undefined;
    /** An `ask` that needs nobody: it was answered for the session. */
    readonly remembered: boolean;
  };
  'approval.asked': AskedApproval;
  'approval.answered': {
    readonly id: string;
    readonly requestId: string;
    readonly server: string;
    readonly tool: string;
    readonly callerId: string | undefined;
    readonly answer: 'once' | 'session' | 'always' | 'deny';
    /** Who answered: `approver`, a name given to `answer()`, or what stood in: `expiry`, `cancelled`, … */
    readonly by: string;
    readonly waitedMs: number;
  };
  /** What was answered with "always" could not be kept, and holds for the session only. */
  'approval.lost': { readonly server: string; readonly tool: string; readonly error: unknown };
  /** A tool is not what it was, at the last list or when it was approved. The lines are safe to show. */
  'tool.changed': {
    readonly server: string;
    readonly tool: string;
    readonly since: 'last-list' | 'approval';
    readonly diff: readonly string[];
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
  /**
   * The entry of a running server cannot be used any more and it goes on as it was (`problem`), or the entry is
   * in order again (undefined).
   */
  'server.config': { readonly server: string; readonly problem: TurnbuckleError | undefined };
  'server.toggled': { readonly server: string; readonly enabled: boolean };
  /** A server asked the host something, and how that ended. The reason may quote the server: untrusted text. */
  'server.asked': {
    readonly server: string;
    readonly kind: 'elicitation' | 'sampling' | 'roots';
    /** answered, declined: by the host; refused: may not be asked; limited: too often; failed: by the host's fault. */
    readonly outcome: 'answered' | 'declined' | 'refused' | 'limited' | 'failed';
    readonly reason: string | undefined;
  };
  /** A log message or notice of a server: untrusted text. */
  'server.notice': {
    readonly server: string;
    readonly level: string;
    readonly logger?: string;
    readonly data: unknown;
    /** It was given to who is behind the only call on its way. */
    readonly told: boolean;
  };
  /**
   * Something that a server sent was of no use: log lines on stdout, second answers, messages without the shape of
   * one. Told at once, then at most every second; `count` is how many since the last time.
   */
  'server.ignored': {
    readonly server: string;
    readonly reason: 'noise' | 'malformed' | 'too-deep' | 'unasked' | 'too-large';
    readonly count: number;
  };
  /**
   * A line that a server's process wrote to stderr: untrusted text, bounded in length. `dropped` counts those that
   * were left out before it because they came too fast.
   */
  'server.stderr': { readonly server: string; readonly text: string; readonly dropped?: number };
  /** A list of a server was asked for: once for all who wanted it at that moment. */
  'catalog.read': {
    readonly server: string;
    readonly kind: 'tools' | 'resources' | 'templates' | 'prompts';
    /** connected: a fresh link; changed: the server said so; stale: what was known; asked: somebody wanted it. */
    readonly reason: 'connected' | 'changed' | 'stale' | 'asked';
    readonly outcome: 'ok' | 'failed';
  };
  'catalog.changed': {
    readonly server: string;
    readonly kind: 'tools' | 'resources' | 'prompts';
    readonly added: readonly string[];
    readonly removed: readonly string[];
    readonly changed: readonly string[];
  };
  /** Something in a server's texts is a reason to look at it; what the flags mean is in `FLAGS`. */
  'catalog.flagged': {
    readonly server: string;
    /** `server`: what it says about itself, its instructions included. */
    readonly kind: 'server' | 'tool' | 'resource' | 'template' | 'prompt';
    /** Its name or URI. Untrusted text. */
    readonly item: string;
    readonly flags: readonly string[];
  };
  'catalog.dropped': { readonly server: string; readonly item: string; readonly reason: string };
  'capability.ambiguous': {
    readonly callerId: string;
    readonly capability: string;
    readonly meanings: readonly string[];
  };
  'resource.updated': { readonly server: string; readonly uri: string };
  /** A function of the host's threw, or its promise was rejected: a listener, or `onProgress` of a call. */
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
        const made: unknown = (listener as (event: RuntimeEvents[Name]) => unknown)(event);
        // An async function is a listener too.
        if (made instanceof Promise) made.catch((error: unknown) => this.#failed(name, error));
      } catch (error) {
        this.#failed(name, error);
      }
    }
  }

  /** Runs another function of the host's: what it throws, or its promise rejects with, is told and goes no further. */
  contain(name: string, work: () => unknown): void {
    try {
      const made = work();
      if (made instanceof Promise) made.catch((error: unknown) => this.#failed(name, error));
    } catch (error) {
      this.#failed(name, error);
    }
  }

  #failed(event: string, error: unknown): void {
    if (event !== 'listener.failed') this.emit('listener.failed', { event, error });
  }
}
