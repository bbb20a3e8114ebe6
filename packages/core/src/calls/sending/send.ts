/**
 * The "connect" and "send" steps of a call: breaker, limits, link, request, and safe retries. Knows servers and
 * links, not tools.
 */

import { Cancellation, type CancelSignal } from '../../async/cancel-signal.js';
import { pause } from '../../async/until-aborted.js';
import type { SignInOwner, SignInTrigger } from '../../auth/sign-ins.js';
import type { Connection } from '../../connection/connection.js';
import type { LaneRequest, LaneResult } from '../../connection/lanes/lane.js';
import { wasNotSent } from '../../connection/lanes/server-error.js';
import type { Link } from '../../connection/link.js';
import { explainRefusal, isComplete } from '../../connection/server-requests/input-rounds.js';
import { TurnbuckleError, toTurnbuckleError } from '../../errors.js';
import { isRecord } from '../../json/is-record.js';
import type { Caller } from '../../policy/capabilities.js';
import type { Breaker } from '../../resilience/breaker.js';
import type { WaitDescription } from '../../resilience/call-clock.js';
import { CallerCooldowns } from '../../resilience/caller-cooldowns.js';
import type { Limiter } from '../../resilience/limiter.js';
import { retryPlan } from '../../resilience/retry-plan.js';
import type { Server } from '../../servers/server.js';
import { FailureTracker, quotaKeyOf } from './failure-tracker.js';
import { requestWithInput, toLaneRequest } from './lane-request.js';
import type { OutgoingCall } from './outgoing-call.js';
import {
  assertNotCancelled,
  breakerOpen,
  callerCoolingDown,
  cancelledInQueue,
  outcomeUnknown,
  overloaded,
  serverUnresponsive,
} from './send-errors.js';

interface LostLink {
  readonly connection: Connection | undefined;
  readonly link: Link;
}

interface PreparedRequest {
  readonly sending: OutgoingCall;
  readonly request: LaneRequest;
}

/** The context of a sign-in in the middle of a call. */
type SignInContext = Pick<OutgoingCall, 'signedInFor' | 'clock' | 'follow'> & {
  readonly options: Pick<OutgoingCall['options'], 'signal' | 'caller'>;
};

export interface SenderOptions {
  /** The limiter shared by all servers. */
  readonly limiter: Limiter;
  readonly monotonicNow: () => number;
  /** Lets a person sign in, or extend the sign-in; false if no prompt is available; rejects if it failed. */
  readonly signIn?:
    | ((owner: SignInOwner, error: TurnbuckleError, asked: SignInTrigger) => Promise<boolean>)
    | undefined;
  /** Whether another process of this user has signed in since the server rejected us. */
  readonly hasNewSignIn: (owner: SignInOwner) => Promise<boolean>;
  /** Lists the tools of a server again after it reported a stale definition. */
  readonly relist: (server: Server, link: Link) => Promise<void>;
}

export class Sender {
  readonly #options: SenderOptions;
  readonly #failures: FailureTracker;
  readonly #lostLinks = new WeakSet<Link>();
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
      throw callerCoolingDown(server);
    this.#assertBreakerClosed(server, caller);
    // The server's own limit first, so that calls to a slow server do not use up the shared limit.
    if (!server.limiter.tryEnter(who)) await this.#waitInQueue(server.limiter, server, sending);
    const { ticket } = server.limiter;
    let inside = false;
    let isAnswered = false;
    let connection: Connection | undefined;
    let link: Link | undefined;
    try {
      if (!limiter.tryEnter(who)) await this.#waitInQueue(limiter, server, sending);
      inside = true;
      connection = this.#connectionFor(server, sending);
      connection.idle.enter();
      if (responder !== undefined) connection.responders.add(responder);
      for (;;) {
        sending.attempts += 1;
        link = connection.link ?? (await this.#openLinkWithSignIn(server, sending));
        const confirmed = this.#confirm(server, sending);
        // Waiting took time: check the current state again.
        if (confirmed !== undefined && (await confirmed.then(() => connection?.link !== link))) continue;
        try {
          const request = toLaneRequest(server, link, sending);
          const received = await this.#request(server, link, { sending, request });
          const result = isComplete(received)
            ? received
            : await requestWithInput(server, link, { sending, request, received });
          this.#recordSuccess(server, connection, caller);
          isAnswered = true;
          if (silent !== undefined && who !== undefined) silent.recordAnswer(who);
          return result;
        } catch (refusal) {
          const thrown = explainRefusal(refusal, server.requests);
          if (await this.#trySignIn(server, sending, thrown)) continue;
          await this.#retryOrThrow(server, sending, { thrown, connection, link });
        }
      }
    } catch (error) {
      if (isServerTimeout(error, server, sending)) this.#recordTimeout(server, who, ticket);
      else if (link !== undefined && wasLost(error)) this.#recordLoss(server, who, { connection, link });
      throw error;
    } finally {
      if (responder !== undefined) connection?.responders.remove(responder);
      connection?.idle.leave();
      if (inside) limiter.leave(who);
      server.limiter.leave(who, isAnswered);
    }
  }

  #recordTimeout(server: Server, who: string | undefined, ticket: number): void {
    if (server.limiter.rejectQueued(who, ticket, serverUnresponsive(server)))
      this.#recordSilence(server, who);
  }

  /**
   * A call that ends its server costs a new process. It counts once, against the caller whose calls alone were in
   * flight there: with several callers, nobody knows whose call it was.
   */
  #recordLoss(server: Server, who: string | undefined, { connection, link }: LostLink): void {
    if (this.#lostLinks.has(link) || connection?.hasClosed(link) === true) return;
    this.#lostLinks.add(link);
    const isDedicated = connection !== server.connection;
    if (isDedicated || server.limiter.isAlone(who)) this.#recordSilence(server, who);
  }

  #recordSilence(server: Server, who: string | undefined): void {
    if (who === undefined) return;
    const silent = this.#unresponsiveCallers.get(server) ?? new CallerCooldowns();
    this.#unresponsiveCallers.set(server, silent);
    silent.recordSilence(who, this.#options.monotonicNow());
  }

  async #request(server: Server, link: Link, { sending, request }: PreparedRequest): Promise<LaneResult> {
    const { follow, clock, options } = sending;
    if (follow === undefined) return link.lane.request(request);
    await clock.until(follow(server), {
      what: 'the subscription',
      server: server.name,
      signal: options.signal,
    });
    return {};
  }

  #connectionFor(server: Server, { follow, options: { caller } }: SignInContext): Connection {
    try {
      server.assertUsable();
      return follow === undefined ? server.connectionFor(caller) : server.watchSource(caller).connection;
    } catch (error) {
      server.breakerFor(caller).abstain();
      throw error;
    }
  }

  /** A call that may no longer be sent says nothing about the server. */
  #confirm(server: Server, { confirm, options }: OutgoingCall): Promise<void> | undefined {
    try {
      assertNotCancelled(options.signal);
      // The server may have been disabled, removed or replaced while the call waited.
      server.assertUsable();
      const asked = confirm();
      return asked === undefined ? undefined : abstainIfRejected(asked, server.breakerFor(options.caller));
    } catch (error) {
      server.breakerFor(options.caller).abstain();
      throw error;
    }
  }

  #recordSuccess(server: Server, connection: Connection, caller: Caller | undefined): void {
    connection.reportAnswer();
    server.breakerFor(caller).succeed();
    server.retries.earn();
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
    // Its caller subscribes again if it wants to: meanwhile the server may have been disconnected.
    if (sending.follow !== undefined) throw error;
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
    const { signal, caller } = sending.options;
    assertNotCancelled(signal);
    this.#assertBreakerClosed(server, caller);
    await this.#openLinkWithSignIn(server, sending);
    server.breakerFor(caller).succeed();
  }

  #assertBreakerClosed(server: Server, caller: Caller | undefined): void {
    // A required sign-in is more useful to report than the failures it caused.
    const agent = server.credentialsAgent(caller);
    const connection = agent === undefined ? server.connection : server.findConnection(caller);
    if (connection?.state === 'needs-auth') return;
    const waitMs = server.breakerFor(caller).admit(this.#options.monotonicNow());
    if (waitMs > 0) throw breakerOpen(server, waitMs);
  }

  async #waitInQueue(limiter: Limiter, server: Server, { clock, options }: OutgoingCall): Promise<void> {
    const { signal } = options;
    const who = quotaKeyOf(options.caller);
    // A cancelled call leaves the queue.
    const over = new Cancellation();
    const turn = limiter.enter(who, over);
    const breaker = server.breakerFor(options.caller);
    if (turn === undefined) {
      breaker.abstain();
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
      breaker.abstain();
      throw signal?.aborted === true ? cancelledInQueue() : error;
    }
  }

  /** The link, opened if necessary. A server that requires a sign-in is not contacted again. */
  async #openLink(server: Server, sending: SignInContext): Promise<Link> {
    const { clock, options } = sending;
    const { signal, caller } = options;
    const connection = this.#connectionFor(server, sending);
    try {
      if (connection.state === 'needs-auth' && connection.error !== undefined) {
        const looking = this.#options.hasNewSignIn(server.signInOwner(caller));
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
    const { signal } = sending.options;
    try {
      return await this.#openLink(server, sending);
    } catch (error) {
      for (let refused: unknown = error; ; ) {
        if (!(await this.#trySignIn(server, sending, refused))) throw refused;
        try {
          const opening = this.#connectionFor(server, sending).open();
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
    const { signal, caller } = sending.options;
    const signingIn = signIn(server.signInOwner(caller), error, { isRepeated, signal });
    return sending.clock.until(signingIn, signInWait(server, signal));
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

function abstainIfRejected(asked: Promise<void>, breaker: Breaker): Promise<void> {
  return asked.catch((error: unknown) => {
    breaker.abstain();
    throw error;
  });
}

/** The connection broke, or the process ended, while the server had the call. */
const wasLost = (error: unknown): boolean =>
  error instanceof TurnbuckleError &&
  (error.code === 'CALL_OUTCOME_UNKNOWN' || (error.code === 'CONNECTION_LOST' && !wasNotSent(error)));

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
