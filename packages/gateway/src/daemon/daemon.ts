/**
 * The daemon: a runtime of the configured servers behind one address, with its log, its numbers, its tokens and
 * its doors. Owns all of them, from the lock on the state directory to the last record.
 */
import { randomBytes } from 'node:crypto';
import type { InvocationLog } from '@turnbuckle/store';
import {
  type ConfiguredOptions,
  type ConfiguredRuntime,
  createConfiguredRuntime,
  type DaemonSettings,
  defaultStateDirectory,
  type LoadedConfig,
  type Runtime,
} from 'turnbuckle';
import { createApiRoutes } from './api/api-routes.js';
import { Bridge } from './bridge/bridge-call.js';
import { createBridgeRoutes } from './bridge/bridge-routes.js';
import { InlineServers } from './bridge/inline-servers.js';
import { Doors } from './http/doors.js';
import { isLoopback } from './http/host-names.js';
import { HttpServer } from './http/http-server.js';
import { isDiskFault } from './instance/disk-fault.js';
import { claimInstance, type Instance, stateUnusable } from './instance/instance.js';
import { recordCalls } from './log/call-log.js';
import { recordServers } from './log/server-log.js';
import { deeper } from './mcp/depth.js';
import { McpFront } from './mcp/mcp-front.js';
import { createMcpRoutes } from './mcp/mcp-routes.js';
import { createStdioTunnel } from './mcp/stdio-tunnel.js';
import { keepTaskKey } from './mcp/task-key.js';
import { createMetrics, type Metrics } from './metrics/metrics.js';
import { openCallLog } from './open-call-log.js';
import { createIssuerDoors } from './tokens/issuer-doors.js';
import { readOwnerToken } from './tokens/owner-token.js';
import { TokenStore } from './tokens/token-store.js';
import { Tracer } from './traces/tracer.js';

export interface DaemonOptions extends ConfiguredOptions {
  readonly version: string;
  readonly host?: string | undefined;
  readonly port?: number | undefined;
  /** Kept in its record, for whoever starts it again. JSON. */
  readonly startedWith?: object | undefined;
  /** Something is wrong that nobody's request is told of. */
  readonly onWarning?: ((message: string) => void) | undefined;
  /** The lock was lost to another process: this one should end. */
  readonly onLost?: (() => void) | undefined;
}

export const DEFAULT_PORT = 7_420;
const DEFAULT_MAX_ENDPOINTS = 50;
/** Shorter than the minute after which most clients give up, and say nothing of why. */
const APPROVAL_WAIT_MS = 50_000;
/** Nobody sits before the daemon all the time. */
const APPROVAL_MS = 600_000;

/** Starts it; resolves when it answers. DAEMON_RUNNING when there is one already, LISTEN_FAILED when the port is taken. */
export async function startDaemon(options: DaemonOptions): Promise<Daemon> {
  const { environment = process.env, version, startedWith, onLost } = options;
  const stateDir = options.stateDir ?? defaultStateDirectory(environment);
  const placed: Placed = {
    ...options,
    stateDir,
    environment: deeper(environment),
    approvalTimeoutMs: options.approvalTimeoutMs ?? APPROVAL_MS,
    instance: randomBytes(12).toString('base64url'),
  };
  const instance = claimInstance({ stateDir, version, startedWith, onLost });
  let daemon: Daemon | undefined;
  try {
    const configured = await createConfiguredRuntime({
      usualNaming: 'server_tool',
      usualApprovalWaitMs: APPROVAL_WAIT_MS,
      ...placed,
      callersAnswer: true,
      isDaemon: true,
      approvals: 'queue',
    });
    daemon = new Daemon(placed, configured, instance);
    await daemon.start();
    return daemon;
  } catch (error) {
    await daemon?.close(0);
    instance.release();
    throw isDiskFault(error) ? stateUnusable(stateDir, error) : error;
  }
}

type Placed = DaemonOptions & { readonly stateDir: string };

export class Daemon {
  readonly configured: ConfiguredRuntime;
  readonly #options: Placed;
  readonly #instance: Instance;
  readonly #front: McpFront;
  readonly #inline: InlineServers;
  readonly #log: InvocationLog | undefined;
  readonly #metrics: Metrics;
  readonly #tracer: Tracer | undefined;
  readonly #ends: Array<() => unknown> = [];
  #http: HttpServer | undefined;
  #url = '';
  #closing: Promise<void> | undefined;
  #judged: { readonly config: LoadedConfig; readonly problems: readonly string[] } | undefined;

  /** Use `startDaemon`. */
  constructor(options: Placed, configured: ConfiguredRuntime, instance: Instance) {
    this.#options = options;
    this.configured = configured;
    this.#instance = instance;
    const { runtime } = configured;
    const { views, sessionIdleMs, log, traces } = this.#settings;
    const { version, onWarning } = options;
    this.#tracer =
      traces &&
      new Tracer({
        ...traces,
        version,
        onFailure: ({ message }) => onWarning?.(`Traces cannot be sent: ${message}`),
      });
    this.#tracer?.follow(runtime);
    this.#front = new McpFront({
      runtime,
      version,
      views,
      tracer: this.#tracer,
      taskKey: keepTaskKey(options.stateDir),
      approvalForms: () => this.#settings.approvalForms,
      ...(sessionIdleMs !== undefined && { sessionLimits: { idleMs: sessionIdleMs } }),
    });
    this.#log = openCallLog({ stateDir: options.stateDir, settings: log, onWarning });
    this.#inline = new InlineServers(
      async (limits) => this.#takeIn(await configured.createBeside(limits)),
      () => ({
        commands: this.#settings.bridge?.commands ?? [],
        urls: this.#settings.bridge?.urls ?? [],
        maxEndpoints: this.#settings.bridge?.maxEndpoints ?? DEFAULT_MAX_ENDPOINTS,
      }),
    );
    this.#metrics = createMetrics(runtime, { log: this.#log, offers: this.#front.offerCounts });
  }

  get url(): string {
    return this.#url;
  }

  /** Requests that are not answered yet. */
  get inFlight(): number {
    return this.#http?.inFlight ?? 0;
  }

  /** The token for everything, as it lies in the state directory. */
  get token(): string | undefined {
    return readOwnerToken(this.#options.stateDir);
  }

  get #settings(): DaemonSettings {
    return this.configured.config().settings.daemon ?? {};
  }

  async start(): Promise<void> {
    const { runtime } = this.configured;
    const { stateDir, version, onWarning } = this.#options;
    const tokens = await TokenStore.open({
      stateDir,
      onWarning,
      onEnded: ({ caller }) => void runtime.endRun(caller).catch(() => {}),
    });
    tokens.watch();
    this.#ends.push(() => tokens.close());
    if (this.#log !== undefined)
      this.#ends.push(recordCalls(runtime, this.#log), recordServers(runtime, this.#log));
    const {
      host = '127.0.0.1',
      port = DEFAULT_PORT,
      hosts,
      origins,
    } = { ...this.#settings, ...given(this.#options) };
    const { credentials, guide, routes } = createIssuerDoors(tokens, this.#settings.issuer);
    const others = [
      ...createBridgeRoutes(new Bridge({ runtime, inline: this.#inline, tracer: this.#tracer })),
      ...createMcpRoutes(this.#front),
      ...routes,
    ];
    let isReady = false;
    this.#http = new HttpServer({
      doors: new Doors({ credentials, guide, hosts, origins }),
      tunnel: createStdioTunnel(this.#front, (name) => tokens.named(name)),
      routes: [
        ...others,
        ...createApiRoutes({
          others,
          isReady: () => isReady,
          configured: this.configured,
          log: this.#log,
          metrics: this.#metrics,
          tokens,
          version,
          startedAt: Date.now(),
          onConfigChanged: () => this.#reloaded(this.configured.config()),
        }),
      ],
      countProblems: () => this.#problems().length,
      onDefect: (thrown) =>
        onWarning?.(`A defect: ${thrown instanceof Error ? thrown.stack : String(thrown)}`),
    });
    this.#problems();
    const { url } = await this.#http.listen(port, host);
    this.#url = url;
    if (!isLoopback(host)) onWarning?.(openToOthers(url));
    this.#instance.announce(url);
    // Calls are taken from now on; one for a server that is not up yet waits for that server alone.
    isReady = true;
    runtime.connectAll().catch(() => {});
    this.#ends.push(await this.configured.follow(({ config }) => this.#reloaded(config)));
  }

  /** Takes no more requests, lets those on their way end, then ends everything. Again, with less time: hurries. */
  close(graceMs: number): Promise<void> {
    const drained = this.#http?.close(graceMs);
    this.#closing ??= this.#close(drained);
    return this.#closing;
  }

  async #close(drained: Promise<void> | undefined): Promise<void> {
    // Nobody answers any more: what waits for that is refused, told and recorded at once.
    this.configured.runtime.approvals.close();
    this.#front.endStreams();
    await drained;
    await this.#front.close();
    const { runtime } = this.configured;
    for (const end of [
      ...this.#ends,
      () => Promise.all([runtime.close(), this.#inline.close()]),
      () => this.#metrics.close(),
      () => this.#tracer?.close(),
      () => this.#log?.close(),
    ])
      await this.#endSafely(end);
    this.#instance.release();
  }

  /** What fails at its end, such as a write to a full disk, keeps nothing else from ending. */
  async #endSafely(end: () => unknown): Promise<void> {
    try {
      await end();
    } catch (error) {
      this.#options.onWarning?.(
        `Not everything ended in order: ${error instanceof Error ? error.message : error}`,
      );
    }
  }

  /** Servers that are given in requests: the same rules, log and metrics. */
  #takeIn(guests: Runtime): Runtime {
    this.#metrics.countCalls(guests, 'inline');
    this.#tracer?.follow(guests);
    if (this.#log !== undefined)
      this.#ends.push(recordCalls(guests, this.#log, { approvals: this.configured.runtime }));
    return guests;
  }

  #reloaded({ settings }: LoadedConfig): void {
    this.#problems();
    this.#front.setViews(settings.daemon?.views ?? {});
    this.#front.invalidate();
  }

  /** What is wrong with the files now, one message each; a new one is warned of. */
  #problems(): readonly string[] {
    const config = this.configured.config();
    if (this.#judged?.config === config) return this.#judged.problems;
    const known = this.#judged?.problems;
    this.#judged = { config, problems: problemsOf(config) };
    // Whoever starts it looks at what is wrong then.
    for (const problem of this.#judged.problems)
      if (known?.includes(problem) === false) this.#options.onWarning?.(problem);
    return this.#judged.problems;
  }
}

const openToOthers = (url: string): string =>
  `It listens at ${url.replace('http://', '')}: other machines can reach it, and what is sent is not encrypted. Every request needs a token. For this machine alone leave --host and daemon.host out.`;

/** Of the files, and of servers that go on as they were before their entry became unusable; with what is in effect. */
const problemsOf = ({ problems, servers }: LoadedConfig): string[] => [
  ...problems.map(({ message, hint }) => (hint === undefined ? message : `${message} ${hint}`)),
  ...[...servers.values()].flatMap(({ name, kept, problem }) =>
    kept && problem ? [`${problem.message} ${name} goes on as it was before.`] : [],
  ),
];

/** What was said at the start stands above the files. */
function given({ host, port }: DaemonOptions): Pick<DaemonSettings, 'host' | 'port'> {
  return { ...(host !== undefined && { host }), ...(port !== undefined && { port }) };
}
