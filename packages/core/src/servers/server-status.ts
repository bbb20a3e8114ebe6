/** The truth about a server in the public words, secrets left out. */
import type { CatalogTool } from './catalog/tool.js';
import { redactConfig } from './config/redact.js';
import type { ServerConfig } from './config/schema.js';
import type { IgnoredCounts } from './connection/ignored-messages.js';
import { configuredSandbox, type SandboxStatus } from './connection/sandbox/status.js';
import { describeState, type PublicState, type PublicStatus } from './connection/state.js';
import type { TurnbuckleError } from './errors.js';
import type { Redactor } from './observe/redact.js';
import type { ServerStats } from './observe/server-stats.js';
import type { BreakerState } from './resilience/breaker.js';
import type { Server } from './server.js';

export interface ServerStatus {
  readonly name: string;
  readonly status: PublicStatus;
  readonly state: PublicState;
  readonly scope: ServerConfig['scope'] | undefined;
  /** The transport in use: the configured one, or `sse` where HTTP fell back to it. */
  readonly transport: string | undefined;
  readonly era: 'legacy' | 'modern' | undefined;
  readonly protocolVersion: string | undefined;
  readonly serverInfo: { readonly name: string; readonly version: string } | undefined;
  /** What it can do, in the protocol's words: its own claim. */
  readonly capabilities: Readonly<Record<string, unknown>> | undefined;
  readonly instructions: string | undefined;
  /** Reasons to look at what it says about itself: codes from `FLAGS`. */
  readonly flags: readonly string[];
  /** What of its lists cannot be used, or was too much: a line for each list of which that is so. */
  readonly leftOut: readonly string[];
  readonly error: TurnbuckleError | undefined;
  /** What is wrong with its configuration as it is written now. Of a server that is up: it goes on as it was. */
  readonly problem: TurnbuckleError | undefined;
  readonly config: Readonly<Record<string, unknown>> | undefined;
  readonly tools: ReadonlyArray<{
    readonly name: string;
    readonly description: string | undefined;
    readonly annotations: CatalogTool['annotations'];
  }>;
  readonly pid: number | undefined;
  /** What its process may reach: `none` for everything that the host may, undefined where there is no process. */
  readonly sandbox: SandboxStatus | 'none' | undefined;
  /** What its process wrote to stderr last. Untrusted text. */
  readonly stderr: string | undefined;
  readonly calls: ServerStats['snapshot'];
  /** What it said in vain, by why: log lines on stdout, second answers, messages without the shape of one. */
  readonly ignored: IgnoredCounts;
  /** Calls on their way to it now, and those that wait for a place. */
  readonly inFlight: number;
  readonly queued: number;
  /** Connections of single agents or sessions, where callers do not share one. */
  readonly connectionsApart: number;
  readonly breaker: BreakerState;
  readonly lastPing: { readonly at: number; readonly ok: boolean; readonly ms: number } | undefined;
  readonly lastAnswerAt: number | undefined;
  readonly recentErrors: ReadonlyArray<{
    readonly at: number;
    readonly code: string;
    readonly message: string;
  }>;
}

/** The same without secrets that a server, or what went wrong with it, may have repeated. */
export function redactStatus(status: ServerStatus, redactor: Redactor): ServerStatus {
  const { error, problem, stderr, serverInfo, instructions, recentErrors } = status;
  return {
    ...status,
    error: error && redactor.error(error),
    problem: problem && redactor.error(problem),
    stderr: stderr && redactor.text(stderr),
    serverInfo: serverInfo && {
      name: redactor.text(serverInfo.name),
      version: redactor.text(serverInfo.version),
    },
    instructions: instructions && redactor.text(instructions),
    recentErrors: recentErrors.map((one) => ({ ...one, message: redactor.text(one.message) })),
  };
}

export function describeServer(server: Server, tools: readonly CatalogTool[]): ServerStatus {
  const { connection, enabled, config } = server;
  const { link, health } = connection;
  const info = link?.peer.serverInfo;
  return {
    name: server.name,
    ...describeState(connection.state, {
      enabled,
      wasReady: connection.wasReady,
      attempts: connection.attempts,
    }),
    scope: config.scope,
    transport: link?.carrier.type ?? config.type,
    era: link?.era,
    protocolVersion: link?.peer.protocolVersion,
    serverInfo: info === undefined ? undefined : { name: info.name, version: info.version },
    capabilities: link?.peer.capabilities,
    instructions: link?.peer.instructions,
    flags: [],
    leftOut: [],
    error: connection.error,
    problem: undefined,
    config: redactConfig(config),
    tools: tools.map(({ tool, description, annotations }) => ({ name: tool, description, annotations })),
    pid: link?.carrier.pid,
    sandbox: link?.carrier.sandbox ?? configuredSandbox(config),
    stderr: link?.carrier.stderr?.tail(4_000),
    calls: server.stats.snapshot,
    ignored: connection.ignored.counts,
    inFlight: server.limiter.inFlight,
    queued: server.limiter.queued,
    connectionsApart: server.connectionsApart,
    breaker: server.breaker.state,
    lastPing: health.lastPing,
    lastAnswerAt: health.lastAnswerAt,
    recentErrors: health.recentErrors,
  };
}

/** A server whose configuration could not be used: it failed before it could begin. */
export function describeProblem(name: string, error: TurnbuckleError): ServerStatus {
  return {
    name,
    status: 'failed',
    state: 'error',
    scope: undefined,
    transport: undefined,
    era: undefined,
    protocolVersion: undefined,
    serverInfo: undefined,
    capabilities: undefined,
    instructions: undefined,
    flags: [],
    leftOut: [],
    error,
    problem: error,
    config: undefined,
    tools: [],
    pid: undefined,
    sandbox: undefined,
    stderr: undefined,
    calls: { total: 0, succeeded: 0, failed: 0, averageMs: undefined, lastUsedAt: undefined },
    ignored: { noise: 0, malformed: 0, 'too-deep': 0, unasked: 0, 'too-large': 0 },
    inFlight: 0,
    queued: 0,
    connectionsApart: 0,
    breaker: 'closed',
    lastPing: undefined,
    lastAnswerAt: undefined,
    recentErrors: [],
  };
}
