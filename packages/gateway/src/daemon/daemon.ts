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
import { createInlineServers, type InlineServers } from '../bridge/inline-servers.js';
import { restoreEnergy } from '../energy/restore-energy.js';
import { Authenticator } from '../http/authenticate.js';
import { isLoopback } from '../http/host-names.js';
import { HttpServer } from '../http/server/http-server.js';
import { EarlyReports } from '../incidents/early-reports.js';
import { type LogOutput, OperatorLog } from '../incidents/operator-log.js';
import { RefusedTokens } from '../incidents/refused-tokens.js';
import { type ConfiguredWatch, watchConfigured } from '../incidents/watch-configured.js';
import { internalError } from '../incidents/watch-runtime.js';
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
import type { DaemonPart } from '../parts/part.js';
import { RunningParts } from '../parts/running-parts.js';
import { openTelemetry, type Telemetry } from '../telemetry/telemetry.js';
import { createIssuerAuth } from '../tokens/issuer-auth.js';
import { readOwnerToken } from '../tokens/owner-token.js';
import { TokenStore } from '../tokens/token-store.js';
import {
  daemonReplaced,
  daemonStarted,
  daemonStopped,
  energyNotRestored,
  openToNetwork,
  telemetryProblem,
  tokenFileProblem,
} from './daemon-incidents.js';
import { openCallLog } from './open-call-log.js';

export interface DaemonOptions extends Omit<ConfiguredOptions, 'telemetry' | 'createTelemetry'> {
  readonly version: string;
  readonly host?: string | undefined;
  readonly port?: number | undefined;
  /** Stored in its record for restarts. JSON. */
  readonly startedWith?: object | undefined;
  /** Where the operator's log goes; absent: incidents are only kept in the store. */
  readonly operatorLog?: LogOutput | undefined;
  /** Parts of other packages. */
  readonly parts?: readonly DaemonPart[] | undefined;
  /** The lock was lost to another process: this one should exit. */
  readonly onLost?: (() => void) | undefined;
}

export const DEFAULT_PORT = 7_420;
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
  let daemon: Daemon | undefined;
  let telemetry: Telemetry | undefined;
  const early = new EarlyReports();
  const instance = claimInstance({
    stateDir,
    version,
    startedWith,
    onLost: () => {
      daemon?.reportReplaced();
      onLost?.();
    },
  });
  try {
    const configured = await createConfiguredRuntime({
      usualNaming: 'server_tool',
      usualApprovalWaitMs: APPROVAL_WAIT_MS,
      ...placed,
      callersAnswer: true,
      service: 'daemon',
      approvals: 'queue',
      createTelemetry: ({ daemon: settings }) => {
        const onWarning = (text: string): void => early.report(telemetryProblem(text));
        telemetry = openTelemetry({ environment, traces: settings?.traces, version, onWarning });
        return telemetry;
      },
    });
    const operatorLog = await OperatorLog.open({
      output: options.operatorLog,
      level: configured.config().settings.daemon?.logLevel,
      redact: (value) => configured.runtime.redact(value),
    });
    daemon = new Daemon(placed, { configured, instance, operatorLog, telemetry });
    early.passTo(operatorLog.report);
    await daemon.start();
    return daemon;
  } catch (error) {
    await (daemon === undefined ? telemetry?.close() : daemon.close(0));
    instance.release();
    throw isFileSystemError(error) ? stateUnusable(stateDir, error) : error;
  }
}

type ResolvedOptions = DaemonOptions & { readonly stateDir: string };

interface DaemonParts {
  readonly configured: ConfiguredRuntime;
  readonly instance: Instance;
  readonly operatorLog: OperatorLog;
  readonly telemetry: Telemetry | undefined;
}

interface HttpParts {
  readonly watch: ConfiguredWatch;
  readonly isReady: () => boolean;
  readonly parts: RunningParts;
}

export class Daemon {
  readonly configured: ConfiguredRuntime;
  readonly #options: ResolvedOptions;
  readonly #instance: Instance;
  readonly #operatorLog: OperatorLog;
  readonly #refusedTokens: RefusedTokens;
  readonly #telemetry: Telemetry | undefined;
  readonly #mcp: McpEndpoint;
  readonly #inline: InlineServers;
  readonly #log: CallLog | undefined;
  readonly #metrics: Metrics;
  readonly #cleanups: Array<() => unknown> = [];
  #http: HttpServer | undefined;
  #url = '';
  #closing: Promise<void> | undefined;
  #parts: RunningParts | undefined;
  #checked: { readonly config: LoadedConfig; readonly count: number } | undefined;

  /** Use `startDaemon`. */
  constructor(options: ResolvedOptions, { configured, instance, operatorLog, telemetry }: DaemonParts) {
    this.#options = options;
    this.configured = configured;
    this.#instance = instance;
    this.#operatorLog = operatorLog;
    this.#telemetry = telemetry;
    const { report } = operatorLog;
    this.#refusedTokens = new RefusedTokens({ report });
    const { runtime } = configured;
    const { views, sessionIdleMs, log } = this.#settings;
    const { version } = options;
    this.#mcp = new McpEndpoint({
      runtime,
      version,
      views,
      telemetry,
      taskKey: loadOrCreateTaskKey(options.stateDir),
      approvalForms: () => this.#settings.approvalForms,
      ...(sessionIdleMs !== undefined && { sessionLimits: { idleMs: sessionIdleMs } }),
    });
    this.#log = openCallLog({ stateDir: options.stateDir, settings: log, report });
    operatorLog.keepIn(this.#log);
    this.#inline = createInlineServers(
      async (limits) => this.#adoptInlineRuntime(await configured.createInlineRuntime(limits)),
      () => this.#settings,
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
    const { stateDir, version } = this.#options;
    const { report } = this.#operatorLog;
    const watch = watchConfigured(this.configured, this.#operatorLog);
    const tokens = await TokenStore.open({
      stateDir,
      onWarning: (text) => report(tokenFileProblem(text)),
      onEnded: ({ caller }) =>
        void Promise.all([runtime.endRun(caller), this.#inline.end(caller)]).catch(() => {}),
    });
    tokens.watch();
    this.#cleanups.push(
      () => tokens.close(),
      () => watch.stop(),
    );
    if (this.#log !== undefined)
      this.#cleanups.push(recordCalls(runtime, this.#log), recordServers(runtime, this.#log));
    await this.#restoreEnergy();
    const parts = await this.#startParts();
    const { host = '127.0.0.1', port = DEFAULT_PORT } = {
      ...this.#settings,
      ...explicitOptions(this.#options),
    };
    let isReady = false;
    this.#http = this.#createHttp(tokens, { watch, isReady: () => isReady, parts });
    const { url } = await this.#http.listen(port, host);
    this.#url = url;
    if (!isLoopback(host)) report(openToNetwork('The daemon', url));
    this.#instance.announce(url);
    report(daemonStarted(version, url));
    // Calls are accepted from now on; a call to a server that is not connected yet waits for that server only.
    isReady = true;
    runtime.connectAll().catch(() => {});
    const stopFollowing = await this.configured.follow((reload) => {
      this.#onConfigChanged(reload.config);
      watch.reloaded(reload);
    });
    this.#cleanups.push(stopFollowing);
  }

  /** Budgets hold from the first call on; estimates can wait. */
  async #restoreEnergy(): Promise<void> {
    const { runtime } = this.configured;
    if (this.#log === undefined) return;
    const restoring = restoreEnergy(runtime, this.#log, Date.now()).catch((error: unknown) =>
      this.#operatorLog.report(energyNotRestored(error)),
    );
    if ((runtime.energy?.longestPeriodMs ?? 0) > 0) await restoring;
  }

  async #startParts(): Promise<RunningParts> {
    const { stateDir, version, environment = process.env, parts = [] } = this.#options;
    const { configured } = this;
    const { report } = this.#operatorLog;
    const metrics = this.#metrics;
    this.#parts = new RunningParts({ configured, stateDir, environment, version, metrics, report });
    await this.#parts.start(parts);
    return this.#parts;
  }

  #createHttp(tokens: TokenStore, { watch, isReady, parts }: HttpParts): HttpServer {
    const { runtime } = this.configured;
    const { hosts, origins, issuer } = this.#settings;
    const { credentials, challengeInfo, routes } = createIssuerAuth(tokens, issuer);
    const otherRoutes = [
      ...createBridgeRoutes(new Bridge({ runtime, inline: this.#inline, telemetry: this.#telemetry })),
      ...createMcpRoutes(this.#mcp),
      ...routes,
    ];
    const onRefusedToken = this.#refusedTokens.add;
    return new HttpServer({
      authenticator: new Authenticator({ credentials, challengeInfo, hosts, origins, onRefusedToken }),
      tunnel: createStdioTunnel(this.#mcp, (name) => tokens.findByName(name)),
      routes: [
        ...otherRoutes,
        ...createApiRoutes({
          otherRoutes,
          partRoutes: parts.routes,
          partEvents: parts.events,
          isReady,
          configured: this.configured,
          log: this.#log,
          metrics: this.#metrics,
          tokens,
          version: this.#options.version,
          startedAt: Date.now(),
          onConfigChanged: (reload) => {
            const config = this.configured.config();
            this.#onConfigChanged(config);
            if (reload === undefined) watch.changed(config);
            else watch.reloaded(reload);
          },
        }),
      ],
      countProblems: () => this.#countProblems(),
      onDefect: (thrown) => this.#operatorLog.report(internalError(thrown, 'while handling a request')),
    });
  }

  /** Another daemon has the state directory now. */
  reportReplaced(): void {
    this.#operatorLog.report(daemonReplaced());
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
      () => this.#parts?.close(),
      ...this.#cleanups,
      () => Promise.all([runtime.close(), this.#inline.close()]),
      () => this.#metrics.close(),
      () => this.#telemetry?.close(),
      () => this.#refusedTokens.close(),
      () => this.#url !== '' && this.#operatorLog.report(daemonStopped()),
      () => this.#operatorLog.close(),
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
      this.#operatorLog.report(internalError(error, 'while the daemon was stopping'));
    }
  }

  /** Inline servers get the same rules, log and metrics. */
  #adoptInlineRuntime(inlineRuntime: Runtime): Runtime {
    this.#metrics.countCalls(inlineRuntime, 'inline');
    if (this.#log !== undefined) this.#cleanups.push(recordCalls(inlineRuntime, this.#log));
    return inlineRuntime;
  }

  #onConfigChanged({ settings }: LoadedConfig): void {
    this.#mcp.setViews(settings.daemon?.views ?? {});
    this.#mcp.invalidate();
    this.#parts?.onConfigChanged();
  }

  /** How many problems the config files have, and servers whose entry became invalid. */
  #countProblems(): number {
    const config = this.configured.config();
    if (this.#checked?.config !== config) this.#checked = { config, count: countProblems(config) };
    return this.#checked.count;
  }
}

/** Problems of the files, and of servers that keep their previous configuration because their entry became invalid. */
const countProblems = ({ problems, servers }: LoadedConfig): number =>
  problems.length + [...servers.values()].filter(({ kept, problem }) => kept && problem !== undefined).length;

/** Explicit options override the config files. */
function explicitOptions({ host, port }: DaemonOptions): Pick<DaemonSettings, 'host' | 'port'> {
  return { ...(host !== undefined && { host }), ...(port !== undefined && { port }) };
}
