/** What the failures of calls say about a server, and who met with them. */
import type { Connection } from './connection/connection.js';
import type { ErrorCode, TurnbuckleError } from './errors.js';
import { agentOf, type Caller, identityOf } from './policy/capabilities.js';
import type { Breaker } from './resilience/breaker.js';
import type { Server } from './server.js';

export interface Failed {
  readonly connection: Connection;
  /** What else it took along is the same failure. */
  readonly event: object;
  readonly caller: Caller | undefined;
  /** How long the request had to be answered, in silence. Absent: nothing was sent. */
  readonly patienceMs: number | undefined;
}

/** By what the host is counted among the callers of a server. */
const HOST = '';

/** They say that it is alive. */
const ANSWERS: ReadonlySet<ErrorCode> = new Set(['SERVER_ERROR', 'RESPONSE_TOO_LARGE', 'INPUT_REQUIRED']);
/** Given up or refused by us or the caller, or a fault of ours: they say nothing. */
const NOTHING: ReadonlySet<ErrorCode> = new Set([
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

export class FailureAccount {
  readonly #now: () => number;
  /** Lost links and failed attempts that were counted: one event, however many calls it took along. */
  readonly #counted = new WeakSet<object>();

  constructor(now: () => number) {
    this.#now = now;
  }

  /** That it is alive, that it is not, or nothing. */
  note({ breaker, config }: Server, { code }: TurnbuckleError, failed: Failed): void {
    const { connection, event, patienceMs } = failed;
    if (ANSWERS.has(code)) {
      connection.reportAnswer();
      return breaker.succeed();
    }
    if (NOTHING.has(code)) return breaker.abstain();
    if (code === 'CALL_TIMEOUT') return this.#noteSilence(breaker, failed, config);
    // What one call met with may be the fault of its tool.
    if (patienceMs !== undefined && !LOSSES.has(code))
      return breaker.failFor(nameOf(failed.caller), this.#now());
    if (this.#counted.has(event)) return breaker.abstain();
    this.#counted.add(event);
    breaker.fail(this.#now());
  }

  #noteSilence(breaker: Breaker, failed: Failed, config: Server['config']): void {
    const { caller, connection, patienceMs } = failed;
    if (isImpatient(failed, config)) breaker.abstain();
    else breaker.failFor(nameOf(caller), this.#now());
    if (patienceMs === undefined) return;
    // Slow, or gone? A question nobody waits for finds out.
    void connection.health.ping().then((isAlive) => {
      if (!isAlive) breaker.confirm(this.#now());
    });
  }
}

const LOSSES: ReadonlySet<ErrorCode> = new Set([
  'CONNECTION_LOST',
  'SERVER_EXITED',
  'CONNECT_FAILED',
  'CONNECT_TIMEOUT',
]);

/** Whose share of the places a call takes; undefined: the host's. */
export function whoOf(caller: Caller | undefined): string | undefined {
  const agent = agentOf(caller);
  return agent && identityOf(agent);
}

const nameOf = (caller: Caller | undefined): string => whoOf(caller) ?? HOST;

/** A caller that waits for less than the server is given finds out nothing about it. */
const isImpatient = ({ patienceMs }: Failed, { callTimeoutMs, maxCallMs }: Server['config']): boolean =>
  patienceMs === undefined || patienceMs < Math.min(callTimeoutMs, maxCallMs);
