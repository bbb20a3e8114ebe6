/**
 * The "connect" and "send" steps of a call: breaker, limits, link, request, and safe retries. Knows servers and
 * links, not tools.
 */

import { Cancellation, type CancelSignal } from '../../async/cancel-signal.js';
import { MAX_TIMER_MS } from '../../async/timer-delay.js';
import { pause } from '../../async/until-aborted.js';
import type { SignInTrigger } from '../../auth/sign-ins.js';
import type { Connection } from '../../connection/connection.js';
import type { LaneResult, Progress } from '../../connection/lanes/lane.js';
import { wasNotSent } from '../../connection/lanes/server-error.js';
import type { Link } from '../../connection/link.js';
import type { ClientResponder } from '../../connection/server-requests/client-responders.js';
import { requestWithInput } from '../../connection/server-requests/input-rounds.js';
import { type HeaderParameter, headersFor } from '../../connection/transports/http/mcp-headers.js';
import { TurnbuckleError, toTurnbuckleError } from '../../errors.js';
import { isRecord } from '../../json/is-record.js';
import { copyRawNumbers } from '../../json/lossless-json.js';
import type { Caller } from '../../policy/capabilities.js';
import type { CallClock, WaitDescription } from '../../resilience/call-clock.js';
import { CallerCooldowns } from '../../resilience/caller-cooldowns.js';
import type { Limiter } from '../../resilience/limiter.js';
import { retryPlan } from '../../resilience/retry-plan.js';
import type { Server } from '../../servers/server.js';
import { FailureTracker, quotaKeyOf } from './failure-tracker.js';
import {
  assertNotCancelled,
  breakerOpen,
  cancelledInQueue,
  outcomeUnknown,
  overloaded,
  serverUnresponsive,
} from './send-errors.js';

export interface OutgoingCall {
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
  /** Safe to repeat, according to trusted annotations. */
  isRetrySafe: boolean;
  readonly options: {
    readonly signal?: CancelSignal | undefined;
    readonly timeoutMs?: number | undefined;
    readonly inputRequired?: 'answer' | 'return' | undefined;
    readonly caller?: Caller | undefined;
    readonly responder?: ClientResponder | undefined;
  };
  /** Runs since the start of the call. */
  readonly clock: CallClock;
  headerParameters?: readonly HeaderParameter[];
  readonly headerArguments?: unknown;
  /**
   * Called right before every send: throws if the call is no longer allowed, and returns a promise if a change
   * requires approval.
   */
  readonly confirm: () => Promise<void> | undefined;
  /** Always set: progress also resets the timeout of the call. */
  readonly onProgress: (progress: Progress) => void;
  /** Counted here. */
  attempts: number;
  signedInFor?: Set<TurnbuckleError['code']>;
  /** The response timeout of the last request. */
  responseTimeoutMs?: number;
}

/** The context of a sign-in in the middle of a call. */
type SignInContext = Pick<OutgoingCall, 'signedInFor' | 'clock'> & {
  readonly options: Pick<OutgoingCall['options'], 'signal' | 'caller'>;
};

export interface SenderOptions {
  /** The limiter shared by all servers. */
  readonly limiter: Limiter;
  readonly monotonicNow: () => number;
  /** Lets a person sign in, or extend the sign-in; false if no prompt is available; rejects if it failed. */
  readonly signIn?:
    | ((server: Server, error: TurnbuckleError, asked: SignInTrigger) => Promise<boolean>)
    | undefined;
  /** Whether another process of this user has signed in since the server rejected us. */
  readonly hasNewSignIn: (server: Server) => Promise<boolean>;
  /** Lists the tools of a server again after it reported a stale definition. */
  readonly relist: (server: Server, link: Link) => Promise<void>;
}

export class Sender {
  readonly #options: SenderOptions;
  readonly #failures: FailureTracker;
  readonly #unresponsiveCallers = new WeakMap<Server, CallerCooldowns>();

  constructor(options: SenderOptions) {
    this.#options = options;
    this.#failures = new FailureTracker(options.monotonicNow);
  }

  /** The result exactly as the server sent it; rejects with a TurnbuckleError. */
  async send(server: Server, sending: OutgoingCall): Promise<LaneResult> {
    const { signal, caller, responder } = sending.options;
    assertNotCancelled(signal);
    sending.clock.setDefaultTotal(server.config.maxCallMs);
    const { limiter, monotonicNow } = this.#options;
    const who = quotaKeyOf(caller);
    const silent = this.#unresponsiveCallers.get(server);
    if (silent !== undefined && who !== undefined && silent.isCoolingDown(who, monotonicNow()))
      throw serverUnresponsive(server);
    this.#assertBreakerClosed(server);
    // The server's own limit first, so that calls to a slow server do not use up the shared limit.
    if (!server.limiter.tryEnter(who)) await this.#waitInQueue(server.limiter, server, sending);
    const { ticket } = server.limiter;
    let inside = false;
    let isAnswered = false;
    let connection: Connection | undefined;
    try {
      if (!limiter.tryEnter(who)) await this.#waitInQueue(limiter, server, sending);
      inside = true;
      connection = this.#connectionFor(server, caller);
      connection.idle.enter();
      if (responder !== undefined) connection.responders.add(responder);
      for (;;) {
        sending.attempts += 1;
        const link = connection.link ?? (await this.#openLinkWithSignIn(server, sending));
        const confirmed = this.#confirm(server, sending);
        // Waiting took time: check the current state again.
        if (confirmed !== undefined && (await confirmed.then(() => connection?.link !== link))) continue;
        try {
          const result = this.#recordSuccess(server, connection, await this.#request(server, link, sending));
          isAnswered = true;
          if (silent !== undefined && who !== undefined) silent.recordAnswer(who);
          return result;
        } catch (thrown) {
          if (await this.#trySignIn(server, sending, thrown)) continue;
          await this.#retryOrThrow(server, sending, { thrown, connection, link });
        }
      }
    } catch (error) {
      if (isServerTimeout(error, server, sending)) this.#recordTimeout(server, who, ticket);
      throw error;
    } finally {
      if (responder !== undefined) connection?.responders.remove(responder);
      connection?.idle.leave();
      if (inside) limiter.leave(who);
      server.limiter.leave(who, isAnswered);
    }
  }

  #recordTimeout(server: Server, who: string | undefined, ticket: number): void {
    if (!server.limiter.rejectQueued(who, ticket, serverUnresponsive(server)) || who === undefined) return;
    const silent = this.#unresponsiveCallers.get(server) ?? new CallerCooldowns();
    this.#unresponsiveCallers.set(server, silent);
    silent.recordTimeout(who, this.#options.monotonicNow());
  }

  #connectionFor(server: Server, caller: Caller | undefined): Connection {
    try {
      return server.connectionFor(caller);
    } catch (error) {
      server.breaker.abstain();
      throw error;
    }
  }

  /** A call that may no longer be sent says nothing about the server. */
  #confirm({ breaker }: Server, { confirm, options }: OutgoingCall): Promise<void> | undefined {
    try {
      assertNotCancelled(options.signal);
      return confirm()?.catch((error: unknown) => {
        breaker.abstain();
        throw error;
      });
    } catch (error) {
      breaker.abstain();
      throw error;
    }
  }

  #recordSuccess({ breaker, retries }: Server, connection: Connection, result: LaneResult): LaneResult {
    connection.reportAnswer();
    breaker.succeed();
    retries.earn();
    return result;
  }

  /** Resolves if the same request may be sent again; otherwise throws the final error. */
  async #retryOrThrow(
    server: Server,
    sending: OutgoingCall,
    failed: { readonly thrown: unknown; readonly connection: Connection; readonly link: Link },
  ): Promise<void> {
    const error = toTurnbuckleError(failed.thrown);
    const { connection, link } = failed;
    // A link that accepts no request is lost, even if it has not noticed.
    if (error.code === 'CONNECTION_LOST' && wasNotSent(error)) connection.reportBroken(link, error);
    // If the link is still open, every loss counts.
    this.#failures.record(server, error, {
      connection,
      incident: connection.link === link ? error : link,
      caller: sending.options.caller,
      responseTimeoutMs: sending.responseTimeoutMs,
    });
    // A retry delay counts as silence.
    const leftMs = sending.clock.nextTimeoutMs;
    const plan = retryPlan(describeFailure(error), {
      safe: sending.isRetrySafe,
      attempt: sending.attempts,
      leftMs,
    });
    if (plan.kind === 'outcome-unknown') throw outcomeUnknown(server, error);
    if (plan.kind === 'give-up' || !server.retries.spend()) throw error;
    const { clock, options } = sending;
    const waiting = { what: 'its tool list', server: server.name, signal: options.signal };
    if (plan.relist) await clock.until(this.#options.relist(server, link), waiting);
    if (plan.delayMs > 0) await pause(plan.delayMs, options.signal);
  }

  /** Connects a server before its tools are known, guarded by the breaker like a call. */
  async connect(server: Server, sending: SignInContext): Promise<void> {
    assertNotCancelled(sending.options.signal);
    this.#assertBreakerClosed(server);
    await this.#openLinkWithSignIn(server, sending);
    server.breaker.succeed();
  }

  #assertBreakerClosed(server: Server): void {
    // A required sign-in is more useful to report than the failures it caused.
    if (server.connection.state === 'needs-auth') return;
    const waitMs = server.breaker.admit(this.#options.monotonicNow());
    if (waitMs > 0) throw breakerOpen(server, waitMs);
  }

  async #waitInQueue(limiter: Limiter, server: Server, { clock, options }: OutgoingCall): Promise<void> {
    const { signal } = options;
    const who = quotaKeyOf(options.caller);
    // A cancelled call leaves the queue.
    const over = new Cancellation();
    const turn = limiter.enter(who, over);
    if (turn === undefined) {
      server.breaker.abstain();
      throw overloaded(server, limiter);
    }
    try {
      await clock.until(turn, { what: 'its turn', server: server.name, signal });
    } catch (error) {
      over.cancel();
      // The slot was granted at the same moment: release it.
      turn.then(
        () => limiter.leave(who),
        () => {},
      );
      server.breaker.abstain();
      throw signal?.aborted === true ? cancelledInQueue() : error;
    }
  }

  #request(server: Server, link: Link, sending: OutgoingCall): Promise<LaneResult> {
    const { method, options, clock, headerParameters = [], headerArguments } = sending;
    const passThrough = options.inputRequired === 'return';
    const mirrored = headerParameters.length > 0 && link.era === 'modern' && link.serverTransport.hasHeaders;
    const timeoutMs = Math.min(options.timeoutMs ?? server.config.callTimeoutMs, MAX_TIMER_MS);
    const maxTotalMs = clock.timerMs;
    sending.responseTimeoutMs = Math.min(timeoutMs, maxTotalMs);
    return requestWithInput(
      link.lane,
      {
        method,
        params: this.#withCapabilities(server, link, sending),
        timeoutMs,
        maxTotalMs,
        signal: options.signal,
        onProgress: sending.onProgress,
        responder: options.responder,
        headers: mirrored ? headersFor(headerParameters, headerArguments) : undefined,
      },
      { guard: server.requests, passThrough, confirm: sending.confirm, clock },
    );
  }

  /**
   * In newer revisions each request declares which server requests its caller supports, limited by the configuration.
   */
  #withCapabilities(
    { requests }: Server,
    { era }: Link,
    { params, options }: OutgoingCall,
  ): OutgoingCall['params'] {
    if (era !== 'modern') return params;
    if (options.responder !== undefined)
      return addCapabilities(params, requests.filterCapabilities(options.responder.capabilities));
    return options.inputRequired === 'return'
      ? addCapabilities(params, requests.passThroughCapabilities)
      : params;
  }

  /** The link, opened if necessary. A server that requires a sign-in is not contacted again. */
  async #openLink(server: Server, { clock, options }: SignInContext): Promise<Link> {
    const { signal, caller } = options;
    const connection = this.#connectionFor(server, caller);
    try {
      if (connection.state === 'needs-auth' && connection.error !== undefined) {
        const looking = this.#options.hasNewSignIn(server);
        if (!(await clock.until(looking, signInWait(server, signal)))) throw connection.error;
      }
      return await clock.until(connection.open(), connectionWait(server, signal));
    } catch (thrown) {
      const error = toTurnbuckleError(thrown);
      this.#failures.record(server, error, {
        connection,
        incident: error,
        caller,
        responseTimeoutMs: undefined,
      });
      throw error;
    }
  }

  async #openLinkWithSignIn(server: Server, sending: SignInContext): Promise<Link> {
    const { signal, caller } = sending.options;
    try {
      return await this.#openLink(server, sending);
    } catch (error) {
      for (let refused: unknown = error; ; ) {
        if (!(await this.#trySignIn(server, sending, refused))) throw refused;
        try {
          const opening = server.connectionFor(caller).open();
          return await sending.clock.until(opening, connectionWait(server, signal));
        } catch (again) {
          refused = again;
        }
      }
    }
  }

  /** True if the call failed for lack of a sign-in and a person has just signed in. */
  async #trySignIn(server: Server, sending: SignInContext, thrown: unknown): Promise<boolean> {
    const { signIn } = this.#options;
    const error = toTurnbuckleError(thrown);
    if (signIn === undefined || (error.code !== 'AUTH_REQUIRED' && error.code !== 'SCOPE_MISSING'))
      return false;
    sending.signedInFor ??= new Set();
    const isRepeated = sending.signedInFor.has(error.code);
    sending.signedInFor.add(error.code);
    // If the call times out, the sign-in continues: the next call uses it.
    const { signal } = sending.options;
    return sending.clock.until(signIn(server, error, { isRepeated, signal }), signInWait(server, signal));
  }
}

const connectionWait = ({ name }: Server, signal: CancelSignal | undefined): WaitDescription => ({
  what: `the connection to server "${name}"`,
  server: name,
  signal,
});

const signInWait = ({ name }: Server, signal: CancelSignal | undefined): WaitDescription => ({
  what: `someone to sign in to server "${name}"`,
  server: name,
  signal,
});

function describeFailure(error: TurnbuckleError): Parameters<typeof retryPlan>[0] {
  const rpc = error.data?.rpc;
  const retryAfterMs = error.data?.retryAfterMs;
  return {
    code: error.code,
    sent: wasNotSent(error) ? false : error.code === 'CONNECTION_LOST' ? true : undefined,
    retryAfterMs: typeof retryAfterMs === 'number' ? retryAfterMs : undefined,
    headerMismatch: isRecord(rpc) && rpc.code === -32020,
  };
}

/** The caller's own `_meta` takes precedence. */
function addCapabilities(
  params: Readonly<Record<string, unknown>>,
  offered: object,
): Readonly<Record<string, unknown>> {
  const meta = isRecord(params._meta) ? params._meta : {};
  const said = copyRawNumbers(meta, { 'io.modelcontextprotocol/clientCapabilities': offered, ...meta });
  return copyRawNumbers(params, { ...params, _meta: said });
}

/** Whether the server was silent for its full timeout, not just for a shorter one of the caller. */
const isServerTimeout = (
  error: unknown,
  { config }: Server,
  { options, responseTimeoutMs }: OutgoingCall,
): boolean =>
  error instanceof TurnbuckleError &&
  error.code === 'CALL_TIMEOUT' &&
  responseTimeoutMs !== undefined &&
  (options.timeoutMs === undefined || options.timeoutMs >= config.callTimeoutMs);
