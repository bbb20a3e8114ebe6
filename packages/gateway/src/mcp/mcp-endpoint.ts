/** The MCP side of the daemon: a context for each view, sessions, parked calls, and the endpoints. */
import type { Runtime } from 'turnbuckle';
import type { ListCacheCounts } from '../metrics/list-metrics.js';
import type { Telemetry } from '../telemetry/telemetry.js';
import { ChangeNotifier } from './change-notifier.js';
import { McpDispatcher } from './dispatcher.js';
import { HttpEndpoint } from './http/http-endpoint.js';
import { ParkedCalls } from './modern/parked-calls.js';
import { type ApprovalForms, ApprovalNotices } from './protocol/approval-notices.js';
import { RequestStates } from './sealed/request-states.js';
import { makeTaskKey, TaskIds } from './sealed/task-ids.js';
import { DEFAULT_SESSION_LIMITS, type SessionLimits, Sessions } from './sessions/sessions.js';
import { type StdioEndpointOptions, serveStdio } from './stdio/stdio-endpoint.js';
import { View, type ViewOptions } from './view.js';
import type { ViewContext } from './view-context.js';

export interface McpEndpointOptions {
  readonly runtime: Runtime;
  readonly version: string;
  /** Named views, in addition to the default view, which offers everything. */
  readonly views?: Readonly<Record<string, ViewOptions>> | undefined;
  readonly sessionLimits?: Partial<SessionLimits> | undefined;
  /** Replaces both clocks: the one for timestamps, and the one for durations. */
  readonly now?: (() => number) | undefined;
  readonly telemetry?: Telemetry | undefined;
  /** The key that seals task ids and request states; absent: they are valid until this endpoint closes. */
  readonly taskKey?: Buffer | undefined;
  /** What a form on the client can do about an approval; absent: show it and deny it. */
  readonly approvalForms?: (() => ApprovalForms | undefined) | undefined;
  /** Only the client can be asked: a call that requires approval fails immediately unless a form of the client can give it. */
  readonly isSingleClient?: boolean | undefined;
}

export class McpEndpoint {
  readonly http: HttpEndpoint;
  readonly sessions: Sessions;
  /** Of all views. */
  readonly listCacheCounts: ListCacheCounts = { hits: 0, misses: 0 };
  readonly #runtime: Runtime;
  readonly #version: string;
  readonly #parked = new ParkedCalls();
  readonly #changes: ChangeNotifier;
  readonly #taskIds: TaskIds;
  readonly #states: RequestStates;
  readonly #notices: ApprovalNotices;
  readonly #telemetry: Telemetry | undefined;
  readonly #viewContexts = new Map<string, MutableViewContext>();
  #views: ReadonlySet<string> = new Set();

  constructor({
    runtime,
    version,
    views = {},
    sessionLimits,
    now,
    telemetry,
    taskKey = makeTaskKey(),
    approvalForms,
    isSingleClient = false,
  }: McpEndpointOptions) {
    this.#notices = new ApprovalNotices(runtime, {
      forms: () => approvalForms?.() ?? 'inform',
      isSingleClient,
    });
    this.#taskIds = new TaskIds(taskKey, now);
    this.#states = new RequestStates(taskKey);
    this.#telemetry = telemetry;
    this.#runtime = runtime;
    this.#version = version;
    this.#changes = new ChangeNotifier(runtime, () => this.invalidate());
    this.setViews(views);
    this.sessions = new Sessions({ ...DEFAULT_SESSION_LIMITS, ...sessionLimits }, now);
    this.http = new HttpEndpoint(this.sessions);
  }

  /** The context of a view; without a name, of the default view. */
  viewContext(view = ''): ViewContext | undefined {
    return this.#views.has(view) ? this.#viewContexts.get(view) : undefined;
  }

  /** Replaces the views, also for connected clients; clients of a removed view find nothing any more. */
  setViews(views: Readonly<Record<string, ViewOptions>>): void {
    const all = new Map<string, ViewOptions>([['', {}], ...Object.entries(views)]);
    this.#views = new Set(all.keys());
    for (const name of new Set([...this.#viewContexts.keys(), ...all.keys()])) {
      const dispatcher = this.#createDispatcher(new View(name, all.get(name) ?? EMPTY_VIEW, this.#runtime));
      const viewContext = this.#viewContexts.get(name);
      if (viewContext === undefined) this.#viewContexts.set(name, this.#createViewContext(dispatcher));
      else viewContext.dispatcher = dispatcher;
    }
  }

  /** The catalog or the rules have changed. */
  invalidate(): void {
    for (const { dispatcher } of this.#viewContexts.values()) dispatcher.invalidate();
  }

  /** Serves one client over streams until it disconnects. */
  serveStdio(streams: Omit<StdioEndpointOptions, 'viewContext'>, view = ''): Promise<void> {
    const viewContext = this.viewContext(view);
    if (viewContext === undefined) return Promise.reject(new Error(`There is no view named "${view}".`));
    return serveStdio({ ...streams, viewContext });
  }

  /** Ends streams that would not end by themselves; calls in progress continue. */
  endStreams(): void {
    this.#changes.close();
    this.sessions.endStreams();
  }

  async close(): Promise<void> {
    this.endStreams();
    this.#parked.close();
    await this.sessions.close();
  }

  #createDispatcher(view: View): McpDispatcher {
    return new McpDispatcher(view, this.#runtime, {
      listCacheCounts: this.listCacheCounts,
      taskIds: this.#taskIds,
      states: this.#states,
      notices: this.#notices,
    });
  }

  #createViewContext(dispatcher: McpDispatcher): MutableViewContext {
    return {
      runtime: this.#runtime,
      dispatcher,
      parked: this.#parked,
      changes: this.#changes,
      serverInfo: { name: 'turnbuckle', title: 'Turnbuckle', version: this.#version },
      telemetry: this.#telemetry,
    };
  }
}

/** The view of a context changes with the configuration; connected clients keep the context. */
type MutableViewContext = Omit<ViewContext, 'dispatcher'> & { dispatcher: McpDispatcher };

const EMPTY_VIEW: ViewOptions = { servers: [], tools: [], resourceTools: false };
