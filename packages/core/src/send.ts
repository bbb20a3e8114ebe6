/**
 * The steps "connect" and "send" of a call: the breaker, the places in flight, the link, the request, and
 * the repeat where it is safe. Knows servers and wires, not tools.
 */

import type { CancelSignal } from './cancel-signal.js';
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
import type { Limiter } from './resilience/limiter.js';
import { type RetryPlan, retryPlan } from './resilience/retry-plan.js';
import type { Server } from './server.js';
import { pause, untilAborted } from './until-aborted.js';

export interface Sending {
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
  /** Doing it twice does no harm, by a trusted word. */
  safe: boolean;
  readonly options: {
    readonly signal?: CancelSignal | undefined;
    readonly timeoutMs?: number | undefined;
    readonly maxTotalMs?: number | undefined;
    readonly inputRequired?: 'answer' | 'return' | undefined;
    readonly caller?: Caller | undefined;
    readonly respondent?: Respondent | undefined;
  };
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
  signIns?: number;
}

/** What a sign-in in the middle of something needs to know of it. */
type SignedIn = Pick<Sending, 'signIns'> & {
  readonly options: Pick<Sending['options'], 'signal' | 'caller'>;
};

/** How often a person is asked to sign in for one call. */
const MAX_SIGN_INS = 2;

export interface SenderOptions {
  /** Places for calls of all servers together. */
  readonly limiter: Limiter;
  readonly now: () => number;
  /** Lets a person sign in, or sign in for more; rejects when that did not come about. Absent: nobody is there. */
  readonly signIn?:
    | ((server: Server, error: TurnbuckleError, signal: CancelSignal | undefined) => Promise<void>)
    | undefined;
  /** Somebody signed in elsewhere, in another program of this user, since the server refused us. */
  readonly hasNewSignIn: (server: Server) => Promise<boolean>;
  /** Reads the tools of a server again: it told us that what we know of them is old. */
  readonly relist: (server: Server, link: Link) => Promise<void>;
}

export class Sender {
  readonly #options: SenderOptions;
  /** Lost links and failed attempts that were counted: one event, however many calls it took along. */
  readonly #counted = new WeakSet<object>();

  constructor(options: SenderOptions) {
    this.#options = options;
  }

  /** The result as the server wrote it; rejects with a TurnbuckleError. */
  async send(server: Server, sending: Sending): Promise<LaneResult> {
    const { signal, caller, respondent } = sending.options;
    if (signal?.aborted)
      throw new TurnbuckleError('CALL_CANCELLED', 'The call was cancelled before it began.');
    this.#admit(server);
    const { limiter } = this.#options;
    if (!limiter.tryEnter()) await this.#queue(limiter, server, signal);
    let inside = false;
    let connection: Connection | undefined;
    try {
      if (!server.limiter.tryEnter()) await this.#queue(server.limiter, server, signal);
      inside = true;
      connection = server.connectionFor(caller);
      connection.idle.enter();
      if (respondent !== undefined) connection.respondents.add(respondent);
      const startedAt = Date.now();
      for (;;) {
        sending.attempts += 1;
        const link = connection.link ?? (await this.#signedInLink(server, sending));
        const confirmed = this.#confirm(server, sending);
        // Whoever answered took their time: what is there now is looked at once more.
        if (confirmed !== undefined && (await confirmed.then(() => connection?.link !== link))) continue;
        try {
          return this.#accept(server, connection, await this.#request(server, link, sending, startedAt));
        } catch (thrown) {
          if (await this.#signedIn(server, sending, thrown)) continue;
          await this.#retryOrThrow(server, link, sending, { thrown, startedAt, connection });
        }
      }
    } finally {
      if (respondent !== undefined) connection?.respondents.remove(respondent);
      connection?.idle.leave();
      if (inside) server.limiter.leave();
      limiter.leave();
    }
  }

  /** What may not leave any more says nothing about the server. */
  #confirm({ breaker }: Server, { confirm }: Sending): Promise<void> | undefined {
    const abstain = (error: unknown): never => {
      breaker.abstain();
      throw error;
    };
    try {
      return confirm()?.catch(abstain);
    } catch (error) {
      return abstain(error);
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
    failed: { thrown: unknown; startedAt: number; connection: Connection },
  ): Promise<void> {
    const error = toTurnbuckleError(failed.thrown);
    const { connection } = failed;
    // A link that takes no request is gone, whether or not it has noticed.
    if (error.code === 'CONNECTION_LOST' && wasNotSent(error)) connection.reportBroken(link, error);
    // Where the link lives on, each loss counts.
    this.#account(server, error, { connection, event: connection.link === link ? error : link });
    // A pause is silence too.
    const { timeoutMs = Number.POSITIVE_INFINITY } = sending.options;
    const leftMs = Math.min(timeoutMs, this.#leftMs(server, sending, failed.startedAt));
    const plan = retryPlan(describeFailure(error), { safe: sending.safe, attempt: sending.attempts, leftMs });
    if (plan.kind === 'outcome-unknown') throw outcomeUnknown(server, error);
    if (plan.kind === 'give-up' || !server.retries.spend()) throw error;
    await this.#prepareRetry(server, link, plan, sending.options.signal);
  }

  #leftMs({ config }: Server, { options }: Sending, startedAt: number): number {
    return (options.maxTotalMs ?? config.maxCallMs) - (Date.now() - startedAt);
  }

  /** Brings a server up before its tools are known, guarded by the breaker like a call. */
  async connect(server: Server, signal: CancelSignal | undefined): Promise<void> {
    this.#admit(server);
    await this.#signedInLink(server, { options: { signal } });
    server.breaker.succeed();
  }

  #admit(server: Server): void {
    // That a sign-in is wanted says more than that calls failed for want of it.
    if (server.connection.state === 'needs-auth') return;
    const waitMs = server.breaker.admit(this.#options.now());
    if (waitMs > 0) throw breakerOpen(server, waitMs);
  }

  async #queue(limiter: Limiter, server: Server, signal: CancelSignal | undefined): Promise<void> {
    const turn = limiter.enter(signal);
    if (turn === undefined) {
      server.breaker.abstain();
      throw new TurnbuckleError('OVERLOADED', `Too many calls wait for server "${server.name}".`, {
        server: server.name,
        hint: `${limiter.inFlight} are in flight and ${limiter.queued} wait. Try again later, or raise maxInFlight.`,
      });
    }
    await turn.catch(() => {
      server.breaker.abstain();
      throw new TurnbuckleError('CALL_CANCELLED', 'The call was cancelled while it waited for its turn.');
    });
  }

  #request(server: Server, link: Link, sending: Sending, startedAt: number): Promise<LaneResult> {
    const { method, options, headerParameters = [], headerArguments } = sending;
    const passOn = options.inputRequired === 'return';
    const mirrored = headerParameters.length > 0 && link.era === 'modern' && link.carrier.hasHeaders;
    return requestWithInput(
      link.lane,
      {
        method,
        params: this.#offering(server, link, sending),
        timeoutMs: options.timeoutMs ?? server.config.callTimeoutMs,
        maxTotalMs: Math.max(this.#leftMs(server, sending, startedAt), 1),
        signal: options.signal,
        onProgress: sending.onProgress,
        respondent: options.respondent,
        headers: mirrored ? headersFor(headerParameters, headerArguments) : undefined,
      },
      { guard: server.requests, passOn, confirm: sending.confirm },
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
  async #link(server: Server, { signal, caller }: SignedIn['options']): Promise<Link> {
    const connection = server.connectionFor(caller);
    try {
      if (connection.state === 'needs-auth' && connection.error !== undefined) {
        if (!(await this.#options.hasNewSignIn(server))) throw connection.error;
      }
      return await untilAborted(connection.open(), signal);
    } catch (thrown) {
      const error = toTurnbuckleError(thrown);
      this.#account(server, error, { connection, event: error });
      throw error;
    }
  }

  async #signedInLink(server: Server, sending: SignedIn): Promise<Link> {
    const { signal, caller } = sending.options;
    try {
      return await this.#link(server, sending.options);
    } catch (error) {
      for (let refused: unknown = error; ; ) {
        if (!(await this.#signedIn(server, sending, refused))) throw refused;
        try {
          return await untilAborted(server.connectionFor(caller).open(), signal);
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
    const before = sending.signIns ?? 0;
    if (before >= MAX_SIGN_INS) return false;
    sending.signIns = before + 1;
    await signIn(server, error, sending.options.signal);
    return true;
  }

  async #prepareRetry(
    server: Server,
    link: Link,
    plan: RetryPlan & { kind: 'retry' },
    signal: CancelSignal | undefined,
  ): Promise<void> {
    if (plan.relist) await this.#options.relist(server, link);
    if (plan.delayMs > 0) await pause(plan.delayMs, signal);
  }

  /** What a failure says about the server: that it is alive, that it is not, or nothing. */
  #account(
    { breaker }: Server,
    error: TurnbuckleError,
    { connection, event }: { readonly connection: Connection; readonly event: object },
  ): void {
    switch (error.code) {
      case 'SERVER_ERROR':
      case 'RESPONSE_TOO_LARGE':
      case 'INPUT_REQUIRED':
        connection.reportAnswer();
        breaker.succeed();
        break;
      case 'CALL_CANCELLED':
      case 'RATE_LIMITED':
      case 'AUTH_REQUIRED':
      case 'SCOPE_MISSING':
      case 'RUNTIME_CLOSED':
      // Ours, or the caller's: nothing that the server did.
      case 'ARGUMENTS_INVALID':
      case 'INTERNAL':
        breaker.abstain();
        break;
      case 'CALL_TIMEOUT':
        breaker.fail(this.#options.now());
        // Slow, or gone? A question nobody waits for finds out.
        void connection.health.ping();
        break;
      case 'CONNECTION_LOST':
      case 'SERVER_EXITED':
      case 'CONNECT_FAILED':
      case 'CONNECT_TIMEOUT':
        if (this.#counted.has(event)) return breaker.abstain();
        this.#counted.add(event);
        breaker.fail(this.#options.now());
        break;
      default:
        breaker.fail(this.#options.now());
    }
  }
}

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

function breakerOpen(server: Server, waitMs: number): TurnbuckleError {
  const { name, connection } = server;
  return new TurnbuckleError(
    'BREAKER_OPEN',
    `Server "${name}" failed several times in a row and is left alone for a while.`,
    {
      server: name,
      cause: connection.error,
      hint: `It is tried again in ${Math.ceil(waitMs / 1_000)} s. Its last error: ${connection.error?.message ?? 'see its recent errors'}`,
    },
  );
}

function outcomeUnknown(server: Server, cause: TurnbuckleError): TurnbuckleError {
  const why = server.connection.error?.message ?? cause.message;
  return new TurnbuckleError(
    'CALL_OUTCOME_UNKNOWN',
    `The connection to server "${server.name}" was lost before it answered: the call may or may not have happened.`,
    {
      server: server.name,
      cause,
      hint: `Find out before you repeat it. ${why}`,
    },
  );
}
