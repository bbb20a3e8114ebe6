/**
 * The only way from a server's request to the host, in both eras and for every handshake: offered only if
 * configuration and host agree, rate-limited, one at a time, validated before the host sees it and before its answer
 * is sent. Each request ends as one event.
 */

import type { ClientCapabilities } from '@modelcontextprotocol/client';
import { offAbort, onAbort } from '../../async/cancel-signal.js';
import { timerDelay } from '../../async/timer-delay.js';
import { abortReason, untilAborted } from '../../async/until-aborted.js';
import type { RequestKind } from '../../config/schema/schema.js';
import type { Events } from '../../events.js';
import { isRecord } from '../../json/is-record.js';
import { Limiter } from '../../resilience/limiter.js';
import type { LaneRequest } from '../lanes/lane.js';
import { type CheckedAnswer, checkElicited, checkRoots, checkSampled } from './check-answer.js';
import type { ClientResponder } from './client-responders.js';
import { REQUEST_KINDS, type ServerRequestAnswers, toCapabilities } from './host-requests.js';
import { type RequestSizeLimits, readElicitation, readSampling } from './read-request.js';
import { TokenBucket } from './token-bucket.js';

export interface RequestLimits extends RequestSizeLimits {
  readonly asksPerMinute: number;
  readonly askBurst: number;
  /** How many requests of a server may wait while the host is busy with one. */
  readonly maxQueuedAsks: number;
  /** Including the wait; after that it counts as declined. */
  readonly askTimeoutMs: number;
}

export const DEFAULT_REQUEST_LIMITS: RequestLimits = {
  asksPerMinute: 10,
  askBurst: 5,
  maxQueuedAsks: 4,
  askTimeoutMs: 300_000,
  maxAskBytes: 256 * 1_024,
  maxSamplingTokens: 4_096,
  maxSamplingMessages: 50,
};

export interface RequestGuardOptions {
  readonly server: string;
  /** The address of a remote server. */
  readonly address?: string | undefined;
  readonly answers: ServerRequestAnswers;
  /**
   * Calls bring their own responders: everything that the configuration allows is offered, whatever the host
   * supports.
   */
  readonly callersCanAnswer: boolean;
  /** What the server's configuration allows; undefined: everything that the host has a handler for. */
  readonly mayAsk: readonly RequestKind[] | undefined;
  readonly limits: RequestLimits;
  readonly events: Events;
  /** From a monotonic clock. */
  readonly now: () => number;
}

/** The outcome of a request. `reason` may be sent to the server; it contains nothing that only the host may know. */
export type RequestOutcome =
  | { readonly outcome: 'answered' | 'declined'; readonly result: Readonly<Record<string, unknown>> }
  | {
      readonly outcome: 'declined' | 'refused' | 'limited' | 'failed' | 'not-offered';
      readonly result?: undefined;
      readonly reason: string;
    };

export interface HostAnswerOptions extends Pick<LaneRequest, 'signal' | 'responder'> {
  /** The server's id of the request. */
  readonly id?: string | number | undefined;
}

/** How a request is parsed: for whom, and whether unchanged or reduced to known fields. */
interface ReadOptions extends Pick<HostAnswerOptions, 'id'> {
  readonly answers: ServerRequestAnswers;
  readonly passThrough: boolean;
}

/** The host gets one request at a time; a client decides itself how many it shows. */
const MAX_CONCURRENT_CLIENT_REQUESTS = 8;

/** The rate and concurrency of requests. */
interface RequestRate {
  readonly bucket: TokenBucket;
  readonly limiter: Limiter;
}

type Raw = Readonly<Record<string, unknown>>;
/** A validated request for the host, with the check for its answer. */
interface HostRequest {
  readonly ask: (signal: AbortSignal) => unknown;
  readonly check: (answer: unknown) => CheckedAnswer;
}

export class RequestGuard {
  readonly server: string;
  /** What is offered to this server. */
  readonly capabilities: ClientCapabilities;
  /** What may be passed to a caller that answers itself. */
  readonly passThroughCapabilities: ClientCapabilities;
  readonly #options: RequestGuardOptions;
  readonly #allowed: readonly RequestKind[];
  /** One for each responder: a slow one does not block the others. */
  readonly #rates = new WeakMap<ServerRequestAnswers, RequestRate>();

  constructor(options: RequestGuardOptions) {
    const { server, answers, callersCanAnswer, mayAsk = REQUEST_KINDS } = options;
    this.#options = options;
    this.server = server;
    this.#allowed = REQUEST_KINDS.filter((kind) => mayAsk.includes(kind));
    const offered = this.#allowed.filter((kind) => callersCanAnswer || answers[kind] !== undefined);
    this.capabilities = toCapabilities(offered);
    this.passThroughCapabilities = toCapabilities(this.#allowed);
  }

  /** Whether the configuration forbids this kind of request, whatever the host offers. */
  forbids(kind: RequestKind): boolean {
    return this.#options.mayAsk?.includes(kind) === false;
  }

  /** Passes the request to the host, if allowed, and returns a validated answer. Never rejects. */
  async answer(
    kind: RequestKind,
    params: Raw,
    { signal, responder, id }: HostAnswerOptions = {},
  ): Promise<RequestOutcome> {
    const { limits, now } = this.#options;
    const answers = responder?.answers ?? this.#options.answers;
    const isAllowed = this.#allowed.includes(kind);
    if (isAllowed && answers[kind] === undefined)
      this.#options.events.runSafely('onUnanswerable', () => responder?.onUnanswerable?.(kind));
    if (!isAllowed || answers[kind] === undefined)
      return this.#finish(kind, { outcome: 'not-offered', reason: 'not offered' });
    const rate = this.#rateOf(answers, responder === undefined ? 1 : MAX_CONCURRENT_CLIENT_REQUESTS);
    if (!rate.bucket.tryTake(now())) {
      const reason = `the server sent more than ${limits.asksPerMinute} requests per minute`;
      return this.#finish(kind, { outcome: 'limited', reason });
    }
    const question = this.#read(kind, params, { answers, id, passThrough: responder !== undefined });
    if (typeof question === 'string') return this.#finish(kind, { outcome: 'refused', reason: question });
    return this.#askHost(kind, question, { signal, limiter: rate.limiter, confirm: responder?.confirm });
  }

  /** The capabilities to offer: the configuration decides about requests, the rest passes. */
  filterCapabilities(capabilities: Raw): Raw {
    const isAllowed = (key: string): boolean =>
      this.#allowed.some((kind) => kind === key) || !REQUEST_KINDS.some((kind) => kind === key);
    return Object.fromEntries(Object.entries(capabilities).filter(([key]) => isAllowed(key)));
  }

  /** Sends a responder a notification of its call; its failures are its own. */
  notify(responder: ClientResponder | undefined, method: string, params: Raw): void {
    this.#options.events.runSafely('onNotice', () => responder?.onNotice?.(method, params));
  }

  #rateOf(answers: ServerRequestAnswers, atOnce: number): RequestRate {
    const known = this.#rates.get(answers);
    if (known !== undefined) return known;
    const { limits, now } = this.#options;
    const rate = {
      bucket: new TokenBucket({ perMinute: limits.asksPerMinute, burst: limits.askBurst }, now()),
      limiter: new Limiter({ maxInFlight: atOnce, maxQueued: limits.maxQueuedAsks }),
    };
    this.#rates.set(answers, rate);
    return rate;
  }

  /** For a caller that answers itself: why it must not get this request. */
  checkPassThrough(kind: RequestKind, params: Raw): string | undefined {
    const question = this.forbids(kind)
      ? "the server's configuration does not allow this request"
      : this.#read(kind, params, { answers: {}, id: undefined, passThrough: true });
    if (typeof question !== 'string') {
      this.#emit(kind, 'answered', 'passed to the caller');
      return undefined;
    }
    this.#emit(kind, 'refused', question);
    return question;
  }

  #read(kind: RequestKind, params: Raw, { answers, id, passThrough }: ReadOptions): HostRequest | string {
    const { limits, server } = this.#options;
    if (JSON.stringify(params).length > limits.maxAskBytes)
      return `the request is larger than ${limits.maxAskBytes} bytes`;
    // A pass-through keeps all of it.
    const whole = passThrough ? { params } : {};
    switch (kind) {
      case 'elicitation': {
        const request = readElicitation(params, this.#options.address);
        if (typeof request === 'string') return request;
        return {
          ask: (signal) => answers.elicitation?.({ ...request, ...whole, server, id, signal }),
          check: (answer) => checkElicited(request, answer),
        };
      }
      case 'sampling': {
        const request = readSampling(params, limits);
        if (typeof request === 'string') return request;
        return {
          ask: (signal) => answers.sampling?.({ ...request, ...whole, server, id, signal }),
          check: checkSampled,
        };
      }
      case 'roots':
        return {
          ask: (signal) => answers.roots?.({ server, id, signal, params: {}, ...whole }),
          check: checkRoots,
        };
    }
  }

  /** One at a time: the next starts when the host's function has settled, not when it timed out. */
  async #askHost(
    kind: RequestKind,
    question: HostRequest,
    {
      signal,
      limiter,
      confirm,
    }: Pick<HostAnswerOptions, 'signal'> & Pick<RequestRate, 'limiter'> & Pick<ClientResponder, 'confirm'>,
  ): Promise<RequestOutcome> {
    const { limits } = this.#options;
    const over = new AbortController();
    const timer = setTimeout(() => over.abort('timeout'), timerDelay(limits.askTimeoutMs)).unref();
    const cancel = (): void => over.abort('cancelled');
    onAbort(signal, cancel);
    try {
      if (!limiter.tryEnter()) {
        const turn = limiter.enter(undefined, over.signal);
        if (turn === undefined)
          return this.#finish(kind, { outcome: 'limited', reason: 'too many requests are pending' });
        await turn;
      }
      if (over.signal.aborted) {
        limiter.leave();
        throw over.signal.reason;
      }
      const asking = Promise.resolve()
        .then(() => question.ask(over.signal))
        .finally(() => limiter.leave());
      asking.catch(() => {});
      const checked = question.check(await untilAborted(() => asking, over.signal, abortReason));
      if ('result' in checked) await confirm?.(checked.result);
      return this.#settle(kind, checked);
    } catch (thrown) {
      return this.#finish(kind, this.#unanswered(over.signal), thrown);
    } finally {
      clearTimeout(timer);
      offAbort(signal, cancel);
      over.abort('over');
    }
  }

  #settle(kind: RequestKind, checked: CheckedAnswer): RequestOutcome {
    if ('result' in checked) {
      const { result, declined } = checked;
      return this.#finish(kind, { outcome: declined === true ? 'declined' : 'answered', result });
    }
    const { reason, own } = checked;
    return own
      ? this.#finish(kind, { outcome: 'failed', reason: FAILED_REASON }, new Error(reason))
      : this.#finish(kind, { outcome: 'refused', reason });
  }

  #unanswered(over: AbortSignal): RequestOutcome {
    if (over.reason === 'timeout')
      return {
        outcome: 'declined',
        reason: `the host did not respond within ${this.#options.limits.askTimeoutMs} ms`,
      };
    return {
      outcome: 'failed',
      reason: over.reason === 'cancelled' ? 'the request was cancelled' : FAILED_REASON,
    };
  }

  #finish(kind: RequestKind, outcome: RequestOutcome, cause?: unknown): RequestOutcome {
    const reported = outcome.outcome === 'not-offered' ? 'refused' : outcome.outcome;
    const why = outcome.result === undefined ? outcome.reason : undefined;
    // The host's own error is for the host only; the server learns only that there was one.
    this.#emit(kind, reported, why === FAILED_REASON && cause instanceof Error ? cause.message : why);
    return outcome;
  }

  #emit(
    kind: RequestKind,
    outcome: Exclude<RequestOutcome['outcome'], 'not-offered'>,
    reason: string | undefined,
  ): void {
    this.#options.events.emit('server.asked', { server: this.server, kind, outcome, reason });
  }
}

const FAILED_REASON = 'the host failed to respond';

/** The params of a request, whatever is in their place. */
export const paramsOf = (params: unknown): Raw => (isRecord(params) ? params : {});
