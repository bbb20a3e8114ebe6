/** The public status of a server, redacted. */
import type { CatalogTool } from '../catalog/tool.js';
import type { ServerConfig } from '../config/schema/schema.js';
import type { IgnoredCounts } from '../connection/protocol/ignored-messages.js';
import { configuredSandbox, type SandboxStatus } from '../connection/sandbox/sandbox-status.js';
import { describeState, type PublicState, type PublicStatus } from '../connection/state.js';
import type { TurnbuckleError } from '../errors.js';
import { redactConfig } from '../redaction/redact-config.js';
import type { Redactor } from '../redaction/redactor.js';
import type { BreakerState } from '../resilience/breaker.js';
import type { Server } from './server.js';
import type { ServerStats } from './server-stats.js';

export interface ServerStatus {
  readonly name: string;
  readonly status: PublicStatus;
  readonly state: PublicState;
  readonly scope: ServerConfig['scope'] | undefined;
  /** The transport in use: the configured one, or `sse` after a fallback from HTTP. */
  readonly transport: string | undefined;
  readonly era: 'legacy' | 'modern' | undefined;
  readonly protocolVersion: string | undefined;
  readonly serverInfo: { readonly name: string; readonly version: string } | undefined;
  /** The protocol capabilities that it declares. */
  readonly capabilities: Readonly<Record<string, unknown>> | undefined;
  readonly instructions: string | undefined;
  /** Flags of its own texts: codes from `FLAGS`. */
  readonly flags: readonly string[];
  /** Unusable or excess entries of its lists: one line per list. */
  readonly leftOut: readonly string[];
  readonly error: TurnbuckleError | undefined;
  /** The problem with its current configuration. A connected server keeps its previous one. */
  readonly problem: TurnbuckleError | undefined;
  readonly config: Readonly<Record<string, unknown>> | undefined;
  readonly tools: ReadonlyArray<{
    readonly name: string;
    readonly description: string | undefined;
    readonly annotations: CatalogTool['annotations'];
  }>;
  readonly pid: number | undefined;
  /** The sandbox of its process: `none` if unrestricted, undefined if there is no process. */
  readonly sandbox: SandboxStatus | 'none' | undefined;
  /** The last lines of its stderr. Untrusted text. */
  readonly stderr: string | undefined;
  readonly calls: ServerStats['snapshot'];
  /** Ignored messages by reason: log lines on stdout, duplicate responses, malformed messages. */
  readonly ignored: IgnoredCounts;
  /** Calls in flight, and queued calls. */
  readonly inFlight: number;
  readonly queued: number;
  /** Dedicated connections of agents or sessions. */
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

/** The same, redacted: a server or an error may repeat secrets. */
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
    transport: link?.serverTransport.type ?? config.type,
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
    pid: link?.serverTransport.pid,
    sandbox: link?.serverTransport.sandbox ?? configuredSandbox(config),
    stderr: link?.serverTransport.stderr?.tail(4_000),
    calls: server.stats.snapshot,
    ignored: connection.ignored.counts,
    inFlight: server.limiter.inFlight,
    queued: server.limiter.queued,
    connectionsApart: server.dedicatedConnectionCount,
    breaker: server.breaker.state,
    lastPing: health.lastPing,
    lastAnswerAt: health.lastAnswerAt,
    recentErrors: health.recentErrors,
  };
}

/** The status of a server with an unusable configuration. */
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
