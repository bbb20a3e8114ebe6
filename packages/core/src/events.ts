/**
 * The events of a runtime, as data: for metrics, logs and consoles. A listener that throws is reported as
 * `listener.failed` and never affects the caller.
 */
import type { TurnbuckleError } from './errors.js';
import type { OmittedCounts } from './json/truncate-value.js';

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

/** Emitted exactly once for each call, whatever its outcome. */
export interface CallSettled extends CallStarted {
  /** Without the time spent waiting for approval. */
  readonly durationMs: number;
  readonly waitedMs: number;
  /** ok: a result; tool-error: a result with isError; failed: no result, see `error`. */
  readonly outcome: 'ok' | 'tool-error' | 'failed';
  readonly error: TurnbuckleError | undefined;
  readonly attempts: number;
  /** The run of the caller, such as a session. */
  readonly run: string | undefined;
  /** The protocol era of the server. */
  readonly era: 'legacy' | 'modern' | undefined;
  readonly arguments: unknown;
  /**
   * What was sent besides the arguments, if anything, redacted as in an approval request; absent if the call ended
   * before that was known.
   */
  readonly alsoSent?: Readonly<Record<string, unknown>> | undefined;
  readonly result: unknown;
  /** The final decision; undefined if the call ended before it. */
  readonly decision: 'allow' | 'ask' | 'deny' | undefined;
  readonly reason: string | undefined;
  /** An `ask` that a session approval answered. */
  readonly remembered: boolean;
  /** What the call cost. Absent for native tools, and for a call that was refused. */
  readonly energy?: number | undefined;
  /** What it was expected to cost. */
  readonly estimatedEnergy?: number | undefined;
  /** The answer to the approval request of this call, or of the same call before it. */
  readonly approval?: GivenApproval | undefined;
}

/** An answer to an approval request. */
export interface GivenApproval {
  readonly answer: 'once' | 'session' | 'always' | 'deny';
  /** Who answered: `approver`, a name given to `answer()`, or the reason for no answer: `expiry`, `cancelled`, … */
  readonly by: string;
}

/** The caller that a connection is for, where callers do not share one (`share`). */
export interface ConnectionOwner {
  readonly callerId: string;
  /** The identity of the caller: a name can be given to somebody else. */
  readonly identity: string;
  /** Its run, if each session has a connection. */
  readonly run?: string | undefined;
}

interface FromConnection {
  /** Whose connection it came on; `host`: that of the host itself. Absent: all callers share it. */
  readonly connectionOf?: ConnectionOwner | 'host' | undefined;
}

/** The configured rule that decided. */
export interface DecidingRule {
  /** Its index among all rules in effect, from 0. */
  readonly index: number;
  readonly action: 'allow' | 'ask' | 'deny';
  readonly from: string;
  readonly file?: string | undefined;
  readonly line?: number | undefined;
  readonly reason?: string | undefined;
}

/** An approval request as plain data: it can be serialized as JSON and answered elsewhere. */
export interface ApprovalRequestData {
  readonly id: string;
  /** The call that waits for approval. */
  readonly requestId: string;
  readonly kind: CallKind;
  readonly server: string;
  readonly tool: string;
  readonly toolName: string;
  /** Absent: the host itself. */
  readonly callerId?: string;
  /** The arguments that are sent, redacted. */
  readonly arguments: Readonly<Record<string, unknown>>;
  /**
   * What is sent besides the arguments, if anything: `_meta`, `inputResponses`, `requestState` and further params.
   */
  readonly alsoSent?: Readonly<Record<string, unknown>>;
  /** True if more is sent than is shown here. Then the call can be approved only once. */
  readonly isCut?: boolean;
  readonly notShown?: OmittedCounts;
  /** The tool's annotations: untrusted claims. */
  readonly annotations?: Readonly<Record<string, unknown>>;
  /** Whether the server's annotations are trusted. */
  readonly trusted: boolean;
  readonly reason: string;
  readonly rule?: DecidingRule;
  /** The expected cost of the call. */
  readonly energy?: number;
  /** Changes since the approved definition: lines that start with `-` or `+`. */
  readonly change?: readonly string[];
  /** The answers with an effect; any other approval counts as the next weaker one. */
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
  /** Every decision about a call, whatever its outcome. */
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
    /** An `ask` that a session approval answers. */
    readonly remembered: boolean;
  };
  /** A call was refused because a budget has too little energy left. */
  'energy.refused': {
    readonly requestId: string;
    readonly server: string;
    readonly tool: string;
    readonly callerId: string;
    /** What has the budget: `run`, `caller` or `server`, and its name. */
    readonly for: 'run' | 'caller' | 'server';
    readonly name: string;
    readonly limit: number;
    readonly left: number;
    readonly needed: number;
    /** When enough is left again; absent: never. */
    readonly retryAfterMs?: number | undefined;
  };
  /** A budget has less than a fifth left. Emitted once, until it is half full again. */
  'energy.low': {
    readonly for: 'run' | 'caller' | 'server';
    readonly name: string;
    readonly limit: number;
    readonly left: number;
    /** When it is used up at the rate of the last calls; absent: not soon. */
    readonly emptyInMs?: number | undefined;
  };
  'approval.asked': ApprovalRequestData;
  'approval.answered': GivenApproval & {
    readonly id: string;
    readonly requestId: string;
    readonly server: string;
    readonly tool: string;
    readonly callerId: string | undefined;
    readonly waitedMs: number;
  };
  /** An "always" could not be stored and holds for the session only. */
  'approval.lost': { readonly server: string; readonly tool: string; readonly error: unknown };
  /** A tool changed since the last list or since it was approved. The lines are safe to display. */
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
  /** Emitted once per outage, with the next step in `error.hint`. */
  'server.failed': { readonly server: string; readonly error: TurnbuckleError };
  'server.recovered': { readonly server: string; readonly afterMs: number };
  'server.added': { readonly server: string };
  'server.removed': { readonly server: string };
  /**
   * The entry of a running server became invalid, and the server keeps its previous configuration (`problem`); or the
   * entry is valid again (undefined).
   */
  'server.config': { readonly server: string; readonly problem: TurnbuckleError | undefined };
  'server.toggled': { readonly server: string; readonly enabled: boolean };
  /** A request from a server to the host, and its outcome. The reason may quote the server: untrusted text. */
  'server.asked': {
    readonly server: string;
    readonly kind: 'elicitation' | 'sampling' | 'roots';
    /** answered, declined: by the host; refused: not permitted; limited: too many; failed: an error of the host. */
    readonly outcome: 'answered' | 'declined' | 'refused' | 'limited' | 'failed';
    readonly reason: string | undefined;
  };
  /** A log message of a server: untrusted text. Show it only to whom `connectionOf` names. */
  'server.notice': FromConnection & {
    readonly server: string;
    readonly level: string;
    readonly logger?: string;
    readonly data: unknown;
    /** Whether it was forwarded to the caller of the only call in flight. */
    readonly told: boolean;
  };
  /**
   * Unusable data from a server: log lines on stdout, duplicate responses, malformed messages. Emitted immediately,
   * then at most once per second; `count` is the number since the last event.
   */
  'server.ignored': {
    readonly server: string;
    readonly reason: 'noise' | 'malformed' | 'too-deep' | 'unasked' | 'too-large';
    readonly count: number;
  };
  /**
   * A line that the server's process wrote to stderr: untrusted text, bounded in length. `dropped` counts the lines
   * discarded before it because they came too fast.
   */
  'server.stderr': FromConnection & {
    readonly server: string;
    readonly text: string;
    readonly dropped?: number;
  };
  /** A list was requested from a server: one request for all concurrent readers. */
  'catalog.read': {
    readonly server: string;
    readonly kind: 'tools' | 'resources' | 'templates' | 'prompts';
    /**
     * connected: a new link; changed: the server sent a notification, or could not send one for a while; stale: the
     * cached list expired; asked: on demand.
     */
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
  /** Something in the texts of a server is suspicious; `FLAGS` describes the flags. */
  'catalog.flagged': {
    readonly server: string;
    /** `server`: its own name, description and instructions. */
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
  /** A function of the host threw or its promise was rejected: a listener, or `onProgress` of a call. */
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

  /** True if there is a listener: lets the hot path skip building unused events. */
  has(name: EventName): boolean {
    return (this.#listeners.get(name)?.size ?? 0) > 0;
  }

  emit<Name extends EventName>(name: Name, event: RuntimeEvents[Name]): void {
    const set = this.#listeners.get(name);
    if (set === undefined) return;
    for (const listener of set) {
      try {
        // Each set only holds listeners of its event name: only `on` writes to it.
        const made: unknown = (listener as (event: RuntimeEvents[Name]) => unknown)(event);
        // Listeners may be async functions.
        if (made instanceof Promise) made.catch((error: unknown) => this.#failed(name, error));
      } catch (error) {
        this.#failed(name, error);
      }
    }
  }

  /** Runs another function of the host; an exception or rejection is reported and not propagated. */
  runSafely(name: string, work: () => unknown): void {
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
