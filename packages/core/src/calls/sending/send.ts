/**
 * The steps "connect" and "send" of a call: the breaker, the places in flight, the link, the request, and
 * the repeat where it is safe. Knows servers and wires, not tools.
 */

import { Cancellation, type CancelSignal } from './cancel-signal.js';
import type { Connection } from './connection/connection.js';
import { requestWithInput } from './connection/input-rounds.js';
import type { LaneResult, Progress } from './connection/lane.js';
import type { Link } from './connection/link.js';
import { type HeaderParameter, headersFor } from './connection/mcp-headers.js';
import type { Respondent } from './connection/respondents.js';
import { wasNotSent } from './connection/server-error.js';
import { TurnbuckleError, toTurnbuckleError } from './errors.js';
import { isRecord } from './is-record.js';
import { keepSpelling } from './json/spelling.js';
import type { Caller } from './policy/capabilities.js';
import { type CallClock, LONGEST_TIMER_MS, type Waiting } from './resilience/call-clock.js';
import type { Limiter } from './resilience/limiter.js';
import { type RetryPlan, retryPlan } from './resilience/retry-plan.js';
import { SilentCallers } from './resilience/silent-callers.js';
import { FailureAccount, whoOf } from './send-account.js';
import {
  breakerOpen,
  cancelledInQueue,
  neverAnswered,
  outcomeUnknown,
  overloaded,
  refuseCancelled,
} from './send-errors.js';
import type { Server } from './server.js';
import type { SignInAsked } from './sign-ins.js';
import { pause } from './until-aborted.js';

export interface Sending {
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
  /** Doing it twice does no harm, by a trusted word. */
  safe: boolean;
  readonly options: {
    readonly signal?: CancelSignal | undefined;
    readonly timeoutMs?: number | undefined;
    readonly inputRequired?: 'answer' | 'return' | undefined;
    readonly caller?: Caller | undefined;
    readonly respondent?: Respondent | undefined;
  };
  /** Runs since the caller's first word. */
  readonly clock: CallClock;
  headerParameters?: readonly HeaderParameter[];
  readonly headerArguments?: unknown;
  /**
   * Asked with every request, right before it leaves: throws when it may not any more, and is a promise when somebody
   * has to be asked about what has changed.
   */
  readonly confirm: () => Promise<void> | undefined;
  /** Always listened to, whoever wants to know: progress also keeps the call's clock from running out. */
  readonly onProgress: (progress: Progress) => void;
  /** Counted here. */
  attempts: number;
  signedInFor?: Set<TurnbuckleError['code']>;
  /** How long the last request had to be answered, in silence. */
  patienceMs?: number;
}

/** What a sign-in in the middle of something needs to know of it. */
type SignedIn = Pick<Sending, 'signedInFor' | 'clock'> & {
  readonly options: Pick<Sending['options'], 'signal' | 'caller'>;
};

export interface SenderOptions {
  /** Places for calls of all servers together. */
  readonly limiter: Limiter;
  readonly now: () => number;
  /** Lets a person sign in, or sign in for more; false when nobody is asked, rejects when it did not come about. */
  readonly signIn?:
    | ((server: Server, error: TurnbuckleError, asked: SignInAsked) => Promise<boolean>)
    | undefined;
  /** Somebody signed in elsewhere, in another program of this user, since the server refused us. */
  readonly hasNewSignIn: (server: Server) => Promise<boolean>;
  /** Reads the tools of a server again: it told us that what we know of them is old. */
  readonly relist: (server: Server, link: Link) => Promise<void>;
}

export class Sender {
  readonly #options: SenderOptions;
  readonly #failures: FailureAccount;
  readonly #silent = new WeakMap<Server, SilentCallers>();

  constructor(options: SenderOptions) {
    this.#options = options;
    this.#failures = new FailureAccount(options.now);
  }

  /** The result as the server wrote it; rejects with a TurnbuckleError. */
  async send(server: Server, sending: Sending): Promise<LaneResult> {
    const { signal, caller, respondent } = sending.options;
    refuseCancelled(signal);
    sending.clock.atMost(server.config.maxCallMs);
    const { limiter, now } = this.#options;
    const who = whoOf(caller);
    const silent = this.#silent.get(server);
    if (silent !== undefined && who !== undefined && silent.isResting(who, now()))
      throw neverAnswered(server);
    this.#admit(server);
    // First the server's own: whoever waits for a slow server takes no place from the others.
    if (!server.limiter.tryEnter(who)) await this.#queue(server.limiter, server, sending);
    const { ticket } = server.limiter;
    let inside = false;
    let isAnswered = false;
    let connection: Connection | undefined;
    try {
      if (!limiter.tryEnter(who)) await this.#queue(limiter, server, sending);
      inside = true;
      connection = this.#connectionFor(server, caller);
      connection.idle.enter();
      if (respondent !== undefined) connection.respondents.add(respondent);
      for (;;) {
        sending.attempts += 1;
        const link = connection.link ?? (await this.#signedInLink(server, sending));
        const confirmed = this.#confirm(server, sending);
        // Whoever answered took their time: what is there now is looked at once more.
        if (confirmed !== undefined && (await confirmed.then(() => connection?.link !== link))) continue;
        try {
          const result = this.#accept(server, connection, await this.#request(server, link, sending));
          isAnswered = true;
          if (silent !== undefined && who !== undefined) silent.noteAnswer(who);
          return result;
        } catch (thrown) {
          if (await this.#signedIn(server, sending, thrown)) continue;
          await this.#retryOrThrow(server, link, sending, { thrown, connection });
        }
      }
    } catch (error) {
      if (isSilence(error, server, sending)) this.#noteSilence(server, who, ticket);
      throw error;
    } finally {
      if (respondent !== undefined) connection?.respondents.remove(respondent);
      connection?.idle.leave();
      if (inside) limiter.leave(who);
      server.limiter.leave(who, isAnswered);
    }
  }

  #noteSilence(server: Server, who: string | undefined, ticket: number): void {
    if (!server.limiter.refuseWaiting(who, ticket, neverAnswered(server)) || who === undefined) return;
    const silent = this.#silent.get(server) ?? new SilentCallers();
    this.#silent.set(server, silent);
    silent.noteSilence(who, this.#options.now());
  }

  #connectionFor(server: Server, caller: Caller | undefined): Connection {
    try {
      return server.connectionFor(caller);
    } catch (error) {
      server.breaker.abstain();
      throw error;
    }
  }

  /** What may not leave any more says nothing about the server. */
  #confirm({ breaker }: Server, { confirm, options }: Sending): Promise<void> | undefined {
    try {
      refuseCancelled(options.signal);
      return confirm()?.catch((error: unknown) => {
        breaker.abstain();
        throw error;
      });
    } catch (error) {
      breaker.abstain();
      throw error;
    }
  }

  #accept({ breaker, retries }: Server, connection: Connection, result: LaneResult): LaneResult {
    connection.reportAnswer();
    breaker.succeed();
    retries.earn();
    return result;
  }

  /** Resolves when the same request may be made again; throws what the caller is told otherwise. */
  async #retryOrThrow(
    server: Server,
    link: Link,
    sending: Sending,
    failed: { thrown: unknown; connection: Connection },
  ): Promise<void> {
    const error = toTurnbuckleError(failed.thrown);
    const { connection } = failed;
    // A link that takes no request is gone, whether or not it has noticed.
    if (error.code === 'CONNECTION_LOST' && wasNotSent(error)) connection.reportBroken(link, error);
    // Where the link lives on, each loss counts.
    this.#failures.note(server, error, {
      connection,
      event: connection.link === link ? error : link,
      caller: sending.options.caller,
      patienceMs: sending.patienceMs,
    });
    // A pause is silence too.
    const leftMs = sending.clock.patienceMs;
    const plan = retryPlan(describeFailure(error), { safe: sending.safe, attempt: sending.attempts, leftMs });
    if (plan.kind === 'outcome-unknown') throw outcomeUnknown(server, error);
    if (plan.kind === 'give-up' || !server.retries.spend()) throw error;
    await this.#prepareRetry(server, link, plan, sending);
  }

  /** Brings a server up before its tools are known, guarded by the breaker like a call. */
  async connect(server: Server, sending: SignedIn): Promise<void> {
    refuseCancelled(sending.options.signal);
    this.#admit(server);
    await this.#signedInLink(server, sending);
    server.breaker.succeed();
  }

  #admit(server: Server): void {
    // That a sign-in is wanted says more than that calls failed for want of it.
    if (server.connection.state === 'needs-auth') return;
    const waitMs = server.breaker.admit(this.#options.now());
    if (waitMs > 0) throw breakerOpen(server, waitMs);
  }

  async #queue(limiter: Limiter, server: Server, { clock, options }: Sending): Promise<void> {
    const { signal } = options;
    const who = whoOf(options.caller);
    // Whoever does not wait any longer gives up its place in the queue.
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
      // It came in the same moment, and nobody takes it.
      turn.then(
        () => limiter.leave(who),
        () => {},
      );
      server.breaker.abstain();
      throw signal?.aborted === true ? cancelledInQueue() : error;
    }
  }

  #request(server: Server, link: Link, sending: Sending): Promise<LaneResult> {
    const { method, options, clock, headerParameters = [], headerArguments } = sending;
    const passOn = options.inputRequired === 'return';
    const mirrored = headerParameters.length > 0 && link.era === 'modern' && link.carrier.hasHeaders;
    const timeoutMs = Math.min(options.timeoutMs ?? server.config.callTimeoutMs, LONGEST_TIMER_MS);
    const maxTotalMs = clock.timerMs;
    sending.patienceMs = Math.min(timeoutMs, maxTotalMs);
    return requestWithInput(
      link.lane,
      {
        method,
        params: this.#offering(server, link, sending),
        timeoutMs,
        maxTotalMs,
        signal: options.signal,
        onProgress: sending.onProgress,
        respondent: options.respondent,
        headers: mirrored ? headersFor(headerParameters, headerArguments) : undefined,
      },
      { guard: server.requests, passOn, confirm: sending.confirm, clock },
    );
  }

  /** In the newer revision each request says what its caller can be asked; the configuration has the last word. */
  #offering({ requests }: Server, { era }: Link, { params, options }: Sending): Sending['params'] {
    if (era !== 'modern') return params;
    if (options.respondent !== undefined)
      return withCapabilities(params, requests.offerOf(options.respondent.capabilities));
    return options.inputRequired === 'return' ? withCapabilities(params, requests.passable) : params;
  }

  /** The link, opened if need be. A server that wants a sign-in is not bothered again. */
  async #link(server: Server, { clock, options }: SignedIn): Promise<Link> {
    const { signal, caller } = options;
    const connection = this.#connectionFor(server, caller);
    try {
      if (connection.state === 'needs-auth' && connection.error !== undefined) {
        const looking = this.#options.hasNewSignIn(server);
        if (!(await clock.until(looking, toSignIn(server, signal)))) throw connection.error;
      }
      return await clock.until(connection.open(), toConnection(server, signal));
    } catch (thrown) {
      const error = toTurnbuckleError(thrown);
      this.#failures.note(server, error, { connection, event: error, caller, patienceMs: undefined });
      throw error;
    }
  }

  async #signedInLink(server: Server, sending: SignedIn): Promise<Link> {
    const { signal, caller } = sending.options;
    try {
      return await this.#link(server, sending);
    } catch (error) {
      for (let refused: unknown = error; ; ) {
        if (!(await this.#signedIn(server, sending, refused))) throw refused;
        try {
          const opening = server.connectionFor(caller).open();
          return await sending.clock.until(opening, toConnection(server, signal));
        } catch (again) {
          refused = again;
        }
      }
    }
  }

  /** True when the call was refused for want of a sign-in and a person has just made one. */
  async #signedIn(server: Server, sending: SignedIn, thrown: unknown): Promise<boolean> {
    const { signIn } = this.#options;
    const error = toTurnbuckleError(thrown);
    if (signIn === undefined || (error.code !== 'AUTH_REQUIRED' && error.code !== 'SCOPE_MISSING'))
      return false;
    sending.signedInFor ??= new Set();
    const isRepeated = sending.signedInFor.has(error.code);
    sending.signedInFor.add(error.code);
    // Whoever runs out of time leaves the sign-in to the person: the next call finds it made.
    const { signal } = sending.options;
    return sending.clock.until(signIn(server, error, { isRepeated, signal }), toSignIn(server, signal));
  }

  async #prepareRetry(
    server: Server,
    link: Link,
    plan: RetryPlan & { kind: 'retry' },
    { clock, options: { signal } }: Sending,
  ): Promise<void> {
    const waiting = { what: 'the list of its tools', server: server.name, signal };
    if (plan.relist) await clock.until(this.#options.relist(server, link), waiting);
    if (plan.delayMs > 0) await pause(plan.delayMs, signal);
  }
}

const toConnection = ({ name }: Server, signal: CancelSignal | undefined): Waiting => ({
  what: `the connection to server "${name}"`,
  server: name,
  signal,
});

const toSignIn = ({ name }: Server, signal: CancelSignal | undefined): Waiting => ({
  what: `a person to sign in at server "${name}"`,
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

/** What the caller says of itself in `_meta` wins. */
function withCapabilities(
  params: Readonly<Record<string, unknown>>,
  offered: object,
): Readonly<Record<string, unknown>> {
  const meta = isRecord(params._meta) ? params._meta : {};
  const said = keepSpelling(meta, { 'io.modelcontextprotocol/clientCapabilities': offered, ...meta });
  return keepSpelling(params, { ...params, _meta: said });
}

/** The server said nothing for as long as it may; not only for as long as somebody wanted to wait. */
const isSilence = (error: unknown, { config }: Server, { options, patienceMs }: Sending): boolean =>
  error instanceof TurnbuckleError &&
  error.code === 'CALL_TIMEOUT' &&
  patienceMs !== undefined &&
  (options.timeoutMs === undefined || options.timeoutMs >= config.callTimeoutMs);
