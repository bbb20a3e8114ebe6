/**
 * The daemon: a runtime of the configured servers behind one address, with its log, metrics, tokens and authentication.
 * It owns all of them, from the lock on the state directory to the last record.
 */
import { randomBytes } from 'node:crypto';
import type { CallLog } from '@turnbuckle/store';
import {
  type ConfiguredOptions,
  type ConfiguredRuntime,
  createConfiguredRuntime,
  type Runtime,
} from 'turnbuckle';
import { type DaemonSettings, defaultStateDirectory, type LoadedConfig } from 'turnbuckle/host';
import { createApiRoutes } from '../api/routes/api-routes.js';
import { Bridge } from '../bridge/bridge-call.js';
import { createBridgeRoutes } from '../bridge/bridge-routes.js';
import { InlineServers } from '../bridge/inline-servers.js';
import { Authenticator } from '../http/authenticate.js';
import { isLoopback } from '../http/host-names.js';
import { HttpServer } from '../http/server/http-server.js';
import { isFileSystemError } from '../instance/file-system-error.js';
import { claimInstance, type Instance, stateUnusable } from '../instance/instance.js';
import { recordCalls } from '../log/call-log.js';
import { recordServers } from '../log/server-log.js';
import { incrementDepth } from '../mcp/gateway-depth.js';
import { McpEndpoint } from '../mcp/mcp-endpoint.js';
import { createMcpRoutes } from '../mcp/mcp-routes.js';
import { loadOrCreateTaskKey } from '../mcp/sealed/task-key.js';
import { createStdioTunnel } from '../mcp/stdio/stdio-tunnel.js';
import { createMetrics, type Metrics } from '../metrics/metrics.js';
import { createIssuerAuth } from '../tokens/issuer-auth.js';
import { readOwnerToken } from '../tokens/owner-token.js';
import { TokenStore } from '../tokens/token-store.js';
import { Tracer } from '../traces/tracer.js';
import { openCallLog } from './open-call-log.js';

export interface DaemonOptions extends ConfiguredOptions {
  readonly version: string;
  readonly host?: string | undefined;
  readonly port?: number | undefined;
  /** Stored in its record for restarts. JSON. */
  readonly startedWith?: object | undefined;
  /** A problem that no request reports. */
  readonly onWarning?: ((message: string) => void) | undefined;
  /** The lock was lost to another process: this one should exit. */
  readonly onLost?: (() => void) | undefined;
}

export const DEFAULT_PORT = 7_420;
const DEFAULT_MAX_ENDPOINTS = 50;
/** Shorter than the minute after which most clients time out without a reason. */
const APPROVAL_WAIT_MS = 50_000;
/** The owner is not always at the terminal. */
const APPROVAL_MS = 600_000;

/** Starts it; resolves when it is ready. DAEMON_RUNNING if one is running already, LISTEN_FAILED if the port is taken. */
export async function startDaemon(options: DaemonOptions): Promise<Daemon> {
  const { environment = process.env, version, startedWith, onLost } = options;
  const stateDir = options.stateDir ?? defaultStateDirectory(environment);
  const placed: ResolvedOptions = {
    ...options,
    stateDir,
    environment: incrementDepth(environment),
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
    throw isFileSystemError(error) ? stateUnusable(stateDir, error) : error;
  }
}

type ResolvedOptions = DaemonOptions & { readonly stateDir: string };

export class Daemon {
  readonly configured: ConfiguredRuntime;
  readonly #options: ResolvedOptions;
  readonly #instance: Instance;
  readonly #mcp: McpEndpoint;
  readonly #inline: InlineServers;
  readonly #log: CallLog | undefined;
  readonly #metrics: Metrics;
  readonly #tracer: Tracer | undefined;
  readonly #cleanups: Array<() => unknown> = [];
  #http: HttpServer | undefined;
  #url = '';
  #closing: Promise<void> | undefined;
  #checked: { readonly config: LoadedConfig; readonly problems: readonly string[] } | undefined;

  /** Use `startDaemon`. */
  constructor(options: ResolvedOptions, configured: ConfiguredRuntime, instance: Instance) {
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
        onFailure: ({ message }) => onWarning?.(`Cannot export traces: ${message}`),
      });
    this.#tracer?.follow(runtime);
    this.#mcp = new McpEndpoint({
      runtime,
      version,
      views,
      tracer: this.#tracer,
      taskKey: loadOrCreateTaskKey(options.stateDir),
      approvalForms: () => this.#settings.approvalForms,
      ...(sessionIdleMs !== undefined && { sessionLimits: { idleMs: sessionIdleMs } }),
    });
    this.#log = openCallLog({ stateDir: options.stateDir, settings: log, onWarning });
    this.#inline = new InlineServers(
      async (limits) => this.#adoptInlineRuntime(await configured.createInlineRuntime(limits)),
      () => ({
        commands: this.#settings.bridge?.commands ?? [],
        urls: this.#settings.bridge?.urls ?? [],
        maxEndpoints: this.#settings.bridge?.maxEndpoints ?? DEFAULT_MAX_ENDPOINTS,
      }),
    );
    this.#metrics = createMetrics(runtime, { log: this.#log, listCacheCounts: this.#mcp.listCacheCounts });
  }

  get url(): string {
    return this.#url;
  }

  /** Requests without a complete response. */
  get inFlight(): number {
    return this.#http?.inFlight ?? 0;
  }

  /** The owner's token, as stored in the state directory. */
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
    this.#cleanups.push(() => tokens.close());
    if (this.#log !== undefined)
      this.#cleanups.push(recordCalls(runtime, this.#log), recordServers(runtime, this.#log));
    const {
      host = '127.0.0.1',
      port = DEFAULT_PORT,
      hosts,
      origins,
    } = { ...this.#settings, ...explicitOptions(this.#options) };
    const { credentials, challengeInfo, routes } = createIssuerAuth(tokens, this.#settings.issuer);
    const otherRoutes = [
      ...createBridgeRoutes(new Bridge({ runtime, inline: this.#inline, tracer: this.#tracer })),
      ...createMcpRoutes(this.#mcp),
      ...routes,
    ];
    let isReady = false;
    this.#http = new HttpServer({
      authenticator: new Authenticator({ credentials, challengeInfo, hosts, origins }),
      tunnel: createStdioTunnel(this.#mcp, (name) => tokens.findByName(name)),
      routes: [
        ...otherRoutes,
        ...createApiRoutes({
          otherRoutes,
          isReady: () => isReady,
          configured: this.configured,
          log: this.#log,
          metrics: this.#metrics,
          tokens,
          version,
          startedAt: Date.now(),
          onConfigChanged: () => this.#onConfigReloaded(this.configured.config()),
        }),
      ],
      countProblems: () => this.#problems().length,
      onDefect: (thrown) =>
        onWarning?.(`Internal error: ${thrown instanceof Error ? thrown.stack : String(thrown)}`),
    });
    this.#problems();
    const { url } = await this.#http.listen(port, host);
    this.#url = url;
    if (!isLoopback(host)) onWarning?.(remoteAccessWarning(url));
    this.#instance.announce(url);
    // Calls are accepted from now on; a call to a server that is not connected yet waits for that server only.
    isReady = true;
    runtime.connectAll().catch(() => {});
    this.#cleanups.push(await this.configured.follow(({ config }) => this.#onConfigReloaded(config)));
  }

  /** Accepts no more requests, lets those in progress end, then ends everything. Call it again with less time to hurry. */
  close(graceMs: number): Promise<void> {
    const drained = this.#http?.close(graceMs);
    this.#closing ??= this.#close(drained);
    return this.#closing;
  }

  async #close(drained: Promise<void> | undefined): Promise<void> {
    // No approval can be given any more: pending ones are denied, and reported and recorded immediately.
    this.configured.runtime.approvals.close();
    this.#mcp.endStreams();
    await drained;
    await this.#mcp.close();
    const { runtime } = this.configured;
    for (const end of [
      ...this.#cleanups,
      () => Promise.all([runtime.close(), this.#inline.close()]),
      () => this.#metrics.close(),
      () => this.#tracer?.close(),
      () => this.#log?.close(),
    ])
      await this.#endSafely(end);
    this.#instance.release();
  }

  /** A failure during shutdown, such as a write to a full disk, must not stop the other steps. */
  async #endSafely(end: () => unknown): Promise<void> {
    try {
      await end();
    } catch (error) {
      this.#options.onWarning?.(
        `An error occurred during shutdown: ${error instanceof Error ? error.message : error}`,
      );
    }
  }

  /** Inline servers get the same rules, log and metrics. */
  #adoptInlineRuntime(inlineRuntime: Runtime): Runtime {
    this.#metrics.countCalls(inlineRuntime, 'inline');
    this.#tracer?.follow(inlineRuntime);
    if (this.#log !== undefined)
      this.#cleanups.push(recordCalls(inlineRuntime, this.#log, { approvals: this.configured.runtime }));
    return inlineRuntime;
  }

  #onConfigReloaded({ settings }: LoadedConfig): void {
    this.#problems();
    this.#mcp.setViews(settings.daemon?.views ?? {});
    this.#mcp.invalidate();
  }

  /** The current problems of the config files, one message each; warns of new ones. */
  #problems(): readonly string[] {
    const config = this.configured.config();
    if (this.#checked?.config === config) return this.#checked.problems;
    const known = this.#checked?.problems;
    this.#checked = { config, problems: problemsOf(config) };
    // Problems at startup are reported by the program that starts it.
    for (const problem of this.#checked.problems)
      if (known?.includes(problem) === false) this.#options.onWarning?.(problem);
    return this.#checked.problems;
  }
}

const remoteAccessWarning = (url: string): string =>
  `The daemon listens on ${url.replace('http://', '')}. Other machines can reach it, and the traffic is not encrypted. Every request needs a token. To accept connections from this machine only, remove --host and daemon.host.`;

/** Problems of the files, and of servers that keep their previous configuration because their entry became invalid. */
const problemsOf = ({ problems, servers }: LoadedConfig): string[] => [
  ...problems.map(({ message, hint }) => (hint === undefined ? message : `${message} ${hint}`)),
  ...[...servers.values()].flatMap(({ name, kept, problem }) =>
    kept && problem ? [`${problem.message} Server "${name}" keeps its previous configuration.`] : [],
  ),
];

/** Explicit options override the config files. */
function explicitOptions({ host, port }: DaemonOptions): Pick<DaemonSettings, 'host' | 'port'> {
  return { ...(host !== undefined && { host }), ...(port !== undefined && { port }) };
}
