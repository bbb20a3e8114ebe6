/** What failed calls say about the health of a server, and which callers they affected. */
import type { Connection } from '../../connection/connection.js';
import type { ErrorCode, TurnbuckleError } from '../../errors.js';
import { agentOf, type Caller, identityOf } from '../../policy/capabilities.js';
import type { Breaker } from '../../resilience/breaker.js';
import type { Server } from '../../servers/server.js';

export interface CallFailure {
  readonly connection: Connection;
  /** Failures with the same incident count once. */
  readonly incident: object;
  readonly caller: Caller | undefined;
  /** The response timeout of the request. Absent: nothing was sent. */
  readonly responseTimeoutMs: number | undefined;
}

/** Identifies the host among the callers of a server. */
const HOST_KEY = '';

/** These errors prove that the server is alive. */
const ALIVE_CODES: ReadonlySet<ErrorCode> = new Set(['SERVER_ERROR', 'RESPONSE_TOO_LARGE', 'INPUT_REQUIRED']);
/** Cancelled or rejected by us or the caller, or our own bug: these say nothing about the server. */
const NEUTRAL_CODES: ReadonlySet<ErrorCode> = new Set([
  'CALL_CANCELLED',
  'CALL_DENIED',
  'APPROVAL_NEEDED',
  'TOOL_UNKNOWN',
  'RESOURCE_UNKNOWN',
  'PROMPT_UNKNOWN',
  'ARGUMENTS_INVALID',
  'SCHEMA_UNUSABLE',
  'OVERLOADED',
  'RATE_LIMITED',
  'AUTH_REQUIRED',
  'SCOPE_MISSING',
  'RUNTIME_CLOSED',
  'INTERNAL',
]);

export class FailureTracker {
  readonly #now: () => number;
  /** Lost links and failed attempts already counted: one event, however many calls it affected. */
  readonly #counted = new WeakSet<object>();

  /** `now` from a monotonic clock. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** The server is alive, it is not, or neither is known. */
  record(server: Server, { code }: TurnbuckleError, failed: CallFailure): void {
    const { connection, incident, responseTimeoutMs } = failed;
    const breaker = server.breakerFor(failed.caller);
    if (ALIVE_CODES.has(code)) {
      connection.reportAnswer();
      return breaker.succeed();
    }
    if (NEUTRAL_CODES.has(code)) return breaker.abstain();
    if (code === 'CALL_TIMEOUT') return this.#recordTimeout(breaker, failed, server.config);
    // A single failure may be the fault of the tool.
    if (responseTimeoutMs !== undefined && !CONNECTION_LOSS_CODES.has(code))
      return breaker.failFor(callerKeyOf(failed.caller), this.#now());
    if (this.#counted.has(incident)) return breaker.abstain();
    this.#counted.add(incident);
    breaker.fail(this.#now());
  }

  #recordTimeout(breaker: Breaker, failed: CallFailure, config: Server['config']): void {
    const { caller, connection, responseTimeoutMs } = failed;
    if (isShorterThanConfigured(failed, config)) breaker.abstain();
    else breaker.failFor(callerKeyOf(caller), this.#now());
    if (responseTimeoutMs === undefined) return;
    // Slow or dead? A ping in the background finds out.
    void connection.health.ping().then((isAlive) => {
      if (!isAlive) breaker.confirm(this.#now());
    });
  }
}

const CONNECTION_LOSS_CODES: ReadonlySet<ErrorCode> = new Set([
  'CONNECTION_LOST',
  'SERVER_EXITED',
  'CONNECT_FAILED',
  'CONNECT_TIMEOUT',
]);

/** Whose quota a call uses; undefined: the host's. */
export function quotaKeyOf(caller: Caller | undefined): string | undefined {
  const agent = agentOf(caller);
  return agent && identityOf(agent);
}

const callerKeyOf = (caller: Caller | undefined): string => quotaKeyOf(caller) ?? HOST_KEY;

/** A caller with a shorter timeout than the server's proves nothing about the server. */
const isShorterThanConfigured = (
  { responseTimeoutMs }: CallFailure,
  { callTimeoutMs, maxCallMs }: Server['config'],
): boolean => responseTimeoutMs === undefined || responseTimeoutMs < Math.min(callTimeoutMs, maxCallMs);
