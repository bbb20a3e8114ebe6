/** The MCP side of the daemon: one desk for each view, sessions, calls that wait, and the endpoints before them. */
import type { Runtime } from 'turnbuckle';
import type { Tracer } from '../traces/tracer.js';
import { type ApprovalForms, ApprovalNotices } from './approval-notice.js';
import { Changes } from './changes.js';
import type { Desk } from './desk.js';
import { HttpEndpoint } from './http-endpoint.js';
import type { OfferCounts } from './offers.js';
import { ParkedCalls } from './parked-calls.js';
import { RequestStates } from './request-states.js';
import { DEFAULT_SESSION_LIMITS, type SessionLimits, Sessions } from './sessions.js';
import { type StdioEndpointOptions, serveStdio } from './stdio-endpoint.js';
import { Surface } from './surface.js';
import { makeTaskKey, TaskIds } from './task-ids.js';
import { View, type ViewOptions } from './view.js';

export interface McpFrontOptions {
  readonly runtime: Runtime;
  readonly version: string;
  /** Named views beside the one that offers everything. */
  readonly views?: Readonly<Record<string, ViewOptions>> | undefined;
  readonly sessionLimits?: Partial<SessionLimits> | undefined;
  readonly now?: (() => number) | undefined;
  readonly tracer?: Tracer | undefined;
  /** What ids of tasks and states of requests are sealed with; absent: they are good as long as this lives. */
  readonly taskKey?: Buffer | undefined;
  /** What clients that can show forms are for an approval; absent: told of it, and able to refuse. */
  readonly approvalForms?: (() => ApprovalForms | undefined) | undefined;
  /** There is nobody but the client: what needs an approval fails at once unless a form of the client can give it. */
  readonly isAlone?: boolean | undefined;
}

export class McpFront {
  readonly http: HttpEndpoint;
  readonly sessions: Sessions;
  /** Of all views. */
  readonly offerCounts: OfferCounts = { hits: 0, misses: 0 };
  readonly #runtime: Runtime;
  readonly #version: string;
  readonly #parked = new ParkedCalls();
  readonly #changes: Changes;
  readonly #taskIds: TaskIds;
  readonly #states: RequestStates;
  readonly #notices: ApprovalNotices;
  readonly #tracer: Tracer | undefined;
  readonly #desks = new Map<string, ChangingDesk>();
  #views: ReadonlySet<string> = new Set();

  constructor({
    runtime,
    version,
    views = {},
    sessionLimits,
    now = Date.now,
    tracer,
    taskKey = makeTaskKey(),
    approvalForms,
    isAlone = false,
  }: McpFrontOptions) {
    this.#notices = new ApprovalNotices(runtime, { forms: () => approvalForms?.() ?? 'inform', isAlone });
    this.#taskIds = new TaskIds(taskKey, now);
    this.#states = new RequestStates(taskKey);
    this.#tracer = tracer;
    this.#runtime = runtime;
    this.#version = version;
    this.#changes = new Changes(runtime, () => this.invalidate());
    this.setViews(views);
    this.sessions = new Sessions({ ...DEFAULT_SESSION_LIMITS, ...sessionLimits }, now);
    this.http = new HttpEndpoint(this.sessions);
  }

  /** The desk of a view; without a name that of everything. */
  desk(view = ''): Desk | undefined {
    return this.#views.has(view) ? this.#desks.get(view) : undefined;
  }

  /** Takes over other views, for who is connected already too; clients of those that are gone find nothing any more. */
  setViews(views: Readonly<Record<string, ViewOptions>>): void {
    const all = new Map<string, ViewOptions>([['', {}], ...Object.entries(views)]);
    this.#views = new Set(all.keys());
    for (const name of new Set([...this.#desks.keys(), ...all.keys()])) {
      const surface = this.#createSurface(new View(name, all.get(name) ?? NOTHING, this.#runtime));
      const desk = this.#desks.get(name);
      if (desk === undefined) this.#desks.set(name, this.#createDesk(surface));
      else desk.surface = surface;
    }
  }

  /** The catalog or the rules have changed. */
  invalidate(): void {
    for (const { surface } of this.#desks.values()) surface.invalidate();
  }

  /** Serves one client over streams until it leaves. */
  serveStdio(streams: Omit<StdioEndpointOptions, 'desk'>, view = ''): Promise<void> {
    const desk = this.desk(view);
    if (desk === undefined) return Promise.reject(new Error(`There is no view named "${view}".`));
    return serveStdio({ ...streams, desk });
  }

  /** Ends the streams that have no end of their own; calls on their way go on. */
  endStreams(): void {
    this.#changes.close();
    this.sessions.endStreams();
  }

  async close(): Promise<void> {
    this.endStreams();
    this.#parked.close();
    await this.sessions.close();
  }

  #createSurface(view: View): Surface {
    return new Surface(view, this.#runtime, {
      tracer: this.#tracer,
      offerCounts: this.offerCounts,
      taskIds: this.#taskIds,
      states: this.#states,
      notices: this.#notices,
    });
  }

  #createDesk(surface: Surface): ChangingDesk {
    return {
      runtime: this.#runtime,
      surface,
      parked: this.#parked,
      changes: this.#changes,
      serverInfo: { name: 'turnbuckle', title: 'Turnbuckle', version: this.#version },
    };
  }
}

/** The view of a desk changes with the configuration; who is connected stays at the desk. */
type ChangingDesk = Omit<Desk, 'surface'> & { surface: Surface };

const NOTHING: ViewOptions = { servers: [] };
