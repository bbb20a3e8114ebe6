/**
 * The bridge in a process of its own: the same configuration, tokens, vault and log as the daemon of the state
 * directory, but its own connections and port. It takes no lock, so it runs with or without a daemon beside it.
 */
import { randomBytes } from 'node:crypto';
import { type ConfiguredOptions, type ConfiguredRuntime, createConfiguredRuntime } from 'turnbuckle';
import { type DaemonSettings, defaultStateDirectory } from 'turnbuckle/host';
import { createLivenessRoutes } from '../api/routes/probe-routes.js';
import { Bridge } from '../bridge/bridge-call.js';
import { createBridgeRoutes } from '../bridge/bridge-routes.js';
import { createInlineServers, type InlineServers } from '../bridge/inline-servers.js';
import { Authenticator } from '../http/authenticate.js';
import { isLoopback } from '../http/host-names.js';
import { HttpServer } from '../http/server/http-server.js';
import { EarlyReports } from '../incidents/early-reports.js';
import type { LogOutput } from '../incidents/operator-log.js';
import { RefusedTokens } from '../incidents/refused-tokens.js';
import { internalError } from '../incidents/watch-runtime.js';
import { isFileSystemError } from '../instance/file-system-error.js';
import { stateUnusable } from '../instance/instance.js';
import { recordCalls } from '../log/call-log.js';
import { incrementDepth } from '../mcp/gateway-depth.js';
import { openTelemetry, type Telemetry } from '../telemetry/telemetry.js';
import { createIssuerAuth } from '../tokens/issuer-auth.js';
import { TokenStore } from '../tokens/token-store.js';
import { openToNetwork, telemetryProblem, tokenFileProblem } from './daemon-incidents.js';
import { logRuntime, type RuntimeLogs } from './log-runtime.js';

export interface StandaloneBridgeOptions extends Omit<ConfiguredOptions, 'telemetry' | 'createTelemetry'> {
  readonly version: string;
  readonly host?: string | undefined;
  readonly port: number;
  /** Where the operator's log goes; absent: incidents are only kept in the store. */
  readonly operatorLog?: LogOutput | undefined;
}

export interface StandaloneBridge {
  readonly url: string;
  readonly configured: ConfiguredRuntime;
  /** Accepts no more requests, lets those in progress end, then ends everything. */
  close(graceMs: number): Promise<void>;
}

/** Starts it; resolves when it accepts calls. LISTEN_FAILED if the port is taken. */
export async function startBridge(options: StandaloneBridgeOptions): Promise<StandaloneBridge> {
  const { environment = process.env, version } = options;
  const stateDir = options.stateDir ?? defaultStateDirectory(environment);
  const early = new EarlyReports();
  let telemetry: Telemetry | undefined;
  const configured = await createConfiguredRuntime({
    usualNaming: 'server_tool',
    ...options,
    stateDir,
    environment: incrementDepth(environment),
    instance: randomBytes(12).toString('base64url'),
    callersAnswer: true,
    service: 'bridge',
    createTelemetry: ({ daemon }) => {
      const onWarning = (text: string): void => early.report(telemetryProblem(text));
      telemetry = openTelemetry({ environment, traces: daemon?.traces, version, onWarning });
      return telemetry;
    },
  });
  const parts = new BridgeParts({ ...options, stateDir }, { configured, telemetry, early });
  try {
    const url = await parts.start();
    return { url, configured, close: (graceMs) => parts.close(graceMs) };
  } catch (error) {
    await parts.close(0);
    throw isFileSystemError(error) ? stateUnusable(stateDir, error) : error;
  }
}

type ResolvedOptions = StandaloneBridgeOptions & { readonly stateDir: string };

interface OpenedParts {
  readonly configured: ConfiguredRuntime;
  readonly telemetry: Telemetry | undefined;
  readonly early: EarlyReports;
}

class BridgeParts {
  readonly #options: ResolvedOptions;
  readonly #opened: OpenedParts;
  /** What ends after the last request, the last first. */
  readonly #ends: Array<() => unknown> = [];
  #http: HttpServer | undefined;

  constructor(options: ResolvedOptions, opened: OpenedParts) {
    this.#options = options;
    this.#opened = opened;
  }

  /** Resolves with its URL. */
  async start(): Promise<string> {
    const { stateDir, operatorLog: output } = this.#options;
    const { configured, telemetry, early } = this.#opened;
    const { runtime } = configured;
    const logs = await logRuntime(configured, { stateDir, output });
    early.passTo(logs.report);
    this.#ends.push(
      () => logs.close(),
      () => telemetry?.close(),
      () => runtime.close(),
    );
    const inline = this.#openInlineServers(logs);
    const tokens = await TokenStore.open({
      stateDir,
      onWarning: (text) => logs.report(tokenFileProblem(text)),
      onEnded: ({ caller }) => void Promise.all([runtime.endRun(caller), inline.end(caller)]).catch(() => {}),
    });
    tokens.watch();
    this.#ends.push(() => tokens.close());
    const { host = '127.0.0.1' } = { ...this.#settings, ...explicitHost(this.#options) };
    this.#http = this.#createHttp(tokens, inline, logs);
    const { url } = await this.#http.listen(this.#options.port, host);
    if (!isLoopback(host)) logs.report(openToNetwork('The bridge', url));
    runtime.connectAll().catch(() => {});
    this.#ends.push(await configured.follow((reload) => logs.reloaded(reload)));
    return url;
  }

  async close(graceMs: number): Promise<void> {
    this.#opened.configured.runtime.approvals.close();
    await this.#http?.close(graceMs);
    for (const end of this.#ends.splice(0).reverse()) await this.#endSafely(end);
  }

  /** A failure during shutdown must not stop the other steps. */
  async #endSafely(end: () => unknown): Promise<void> {
    try {
      await end();
    } catch (error) {
      this.#opened.early.report(internalError(error, 'during shutdown'));
    }
  }

  get #settings(): DaemonSettings {
    return this.#opened.configured.config().settings.daemon ?? {};
  }

  #createHttp(tokens: TokenStore, inline: InlineServers, { report }: RuntimeLogs): HttpServer {
    const { configured, telemetry } = this.#opened;
    const { runtime } = configured;
    const { hosts, origins, issuer } = this.#settings;
    const { credentials, challengeInfo, routes } = createIssuerAuth(tokens, issuer);
    const refusedTokens = new RefusedTokens({ report });
    this.#ends.push(() => refusedTokens.close());
    const onRefusedToken = refusedTokens.add;
    const bridge = new Bridge({ runtime, inline, telemetry });
    return new HttpServer({
      authenticator: new Authenticator({ credentials, challengeInfo, hosts, origins, onRefusedToken }),
      routes: [...createLivenessRoutes(), ...createBridgeRoutes(bridge), ...routes],
      onDefect: (thrown) => report(internalError(thrown, 'while a request was handled')),
    });
  }

  /** Their calls are recorded with all others. */
  #openInlineServers({ callLog }: RuntimeLogs): InlineServers {
    const { createInlineRuntime } = this.#opened.configured;
    const inline = createInlineServers(
      async (limits) => {
        const inlineRuntime = await createInlineRuntime(limits);
        if (callLog !== undefined) recordCalls(inlineRuntime, callLog);
        return inlineRuntime;
      },
      () => this.#settings,
    );
    this.#ends.push(() => inline.close());
    return inline;
  }
}

const explicitHost = ({ host }: StandaloneBridgeOptions): Pick<DaemonSettings, 'host'> =>
  host === undefined ? {} : { host };
