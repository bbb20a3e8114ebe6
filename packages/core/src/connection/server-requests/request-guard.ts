/**
 * The one way from a server's question to the host, in both eras and whoever made the handshake: offered
 * only where configuration and host agree, at a bounded rate, one at a time, checked before the host sees it
 * and before its answer leaves. Each question ends as one event.
 */

import type { ClientCapabilities } from '@modelcontextprotocol/client';
import { offAbort, onAbort } from '../cancel-signal.js';
import type { RequestKind } from '../config/schema.js';
import type { Events } from '../events.js';
import { isRecord } from '../is-record.js';
import { Limiter } from '../resilience/limiter.js';
import { timerDelay } from '../resilience/timer-delay.js';
import { type Checked, checkElicited, checkRoots, checkSampled } from './check-answer.js';
import type { LaneRequest } from './lane.js';
import { type RequestBounds, readElicitation, readSampling } from './read-request.js';
import type { Respondent } from './respondents.js';
import { REQUEST_KINDS, type ServerRequestAnswers, toCapabilities } from './server-requests.js';
import { TokenBucket } from './token-bucket.js';

export interface RequestLimits extends RequestBounds {
  readonly asksPerMinute: number;
  readonly askBurst: number;
  /** How many of a server's questions may wait while the host is busy with one. */
  readonly maxQueuedAsks: number;
  /** Waiting included; then it counts as declined. */
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
  /** Where a remote server is. */
  readonly address?: string | undefined;
  readonly answers: ServerRequestAnswers;
  /** Calls bring answers of their own: what the configuration allows is offered, whatever the host answers. */
  readonly callersAnswer: boolean;
  /** What the server's configuration allows; undefined: whatever the host has an answer for. */
  readonly mayAsk: readonly RequestKind[] | undefined;
  readonly limits: RequestLimits;
  readonly events: Events;
  readonly now: () => number;
}

/** How a question ended. `reason` is fit for the server to read; what only the host may know is not in it. */
export type Outcome =
  | { readonly outcome: 'answered' | 'declined'; readonly result: Readonly<Record<string, unknown>> }
  | {
      readonly outcome: 'declined' | 'refused' | 'limited' | 'failed' | 'not-offered';
      readonly result?: undefined;
      readonly reason: string;
    };

export interface AskOptions extends Pick<LaneRequest, 'signal' | 'respondent'> {
  /** The server's own name for the question. */
  readonly id?: string | number | undefined;
}

/** How a question is read: for whom, and whether as it came or with the fields only that are known. */
interface Reading extends Pick<AskOptions, 'id'> {
  readonly answers: ServerRequestAnswers;
  readonly passes: boolean;
}

/** The host is asked one thing after the other; a client decides by itself what it shows at once. */
const AT_ONCE = 8;

/** How often somebody may be asked, and how much at once. */
interface Pace {
  readonly bucket: TokenBucket;
  readonly turns: Limiter;
}

type Raw = Readonly<Record<string, unknown>>;
/** A question that is fit to be put to the host: how, and what its answer has to be. */
interface Question {
  readonly ask: (signal: AbortSignal) => unknown;
  readonly check: (answer: unknown) => Checked;
}

export class RequestGuard {
  readonly server: string;
  /** What is offered to this server. */
  readonly capabilities: ClientCapabilities;
  /** What a caller may be handed that goes on itself. */
  readonly passable: ClientCapabilities;
  readonly #options: RequestGuardOptions;
  readonly #allowed: readonly RequestKind[];
  /** One for each who is asked: somebody who takes long holds up nobody else. */
  readonly #paces = new WeakMap<ServerRequestAnswers, Pace>();

  constructor(options: RequestGuardOptions) {
    const { server, answers, callersAnswer, mayAsk = REQUEST_KINDS } = options;
    this.#options = options;
    this.server = server;
    this.#allowed = REQUEST_KINDS.filter((kind) => mayAsk.includes(kind));
    const offered = this.#allowed.filter((kind) => callersAnswer || answers[kind] !== undefined);
    this.capabilities = toCapabilities(offered);
    this.passable = toCapabilities(this.#allowed);
  }

  /** Whether the configuration keeps the server from asking this, whatever the host offers. */
  forbids(kind: RequestKind): boolean {
    return this.#options.mayAsk?.includes(kind) === false;
  }

  /** Puts the question to the host, if it may be asked, and brings back what may be answered. Never rejects. */
  async answer(
    kind: RequestKind,
    params: Raw,
    { signal, respondent, id }: AskOptions = {},
  ): Promise<Outcome> {
    const { limits, now } = this.#options;
    const answers = respondent?.answers ?? this.#options.answers;
    const isAllowed = this.#allowed.includes(kind);
    if (isAllowed && answers[kind] === undefined)
      this.#options.events.contain('onUnanswerable', () => respondent?.onUnanswerable?.(kind));
    if (!isAllowed || answers[kind] === undefined)
      return this.#end(kind, { outcome: 'not-offered', reason: 'not offered' });
    const pace = this.#paceOf(answers, respondent === undefined ? 1 : AT_ONCE);
    if (!pace.bucket.take(now())) {
      const reason = `more than ${limits.asksPerMinute} questions a minute`;
      return this.#end(kind, { outcome: 'limited', reason });
    }
    const question = this.#read(kind, params, { answers, id, passes: respondent !== undefined });
    if (typeof question === 'string') return this.#end(kind, { outcome: 'refused', reason: question });
    return this.#put(kind, question, { signal, turns: pace.turns, confirm: respondent?.confirm });
  }

  /** What may be offered of what somebody can be asked: the configuration decides about questions, the rest passes. */
  offerOf(capabilities: Raw): Raw {
    const isAllowed = (key: string): boolean =>
      this.#allowed.some((kind) => kind === key) || !REQUEST_KINDS.some((kind) => kind === key);
    return Object.fromEntries(Object.entries(capabilities).filter(([key]) => isAllowed(key)));
  }

  /** Tells a respondent what belongs to its call; what it makes of that is its own matter. */
  notify(respondent: Respondent | undefined, method: string, params: Raw): void {
    this.#options.events.contain('onNotice', () => respondent?.onNotice?.(method, params));
  }

  #paceOf(answers: ServerRequestAnswers, atOnce: number): Pace {
    const known = this.#paces.get(answers);
    if (known !== undefined) return known;
    const { limits, now } = this.#options;
    const pace = {
      bucket: new TokenBucket({ perMinute: limits.asksPerMinute, burst: limits.askBurst }, now()),
      turns: new Limiter({ maxInFlight: atOnce, maxQueued: limits.maxQueuedAsks }),
    };
    this.#paces.set(answers, pace);
    return pace;
  }

  /** For a caller that answers itself: the reason why it may not be handed this question. */
  pass(kind: RequestKind, params: Raw): string | undefined {
    const question = this.forbids(kind)
      ? 'its configuration does not allow it'
      : this.#read(kind, params, { answers: {}, id: undefined, passes: true });
    if (typeof question !== 'string') {
      this.#tell(kind, 'answered', 'handed to the caller');
      return undefined;
    }
    this.#tell(kind, 'refused', question);
    return question;
  }

  #read(kind: RequestKind, params: Raw, { answers, id, passes }: Reading): Question | string {
    const { limits, server } = this.#options;
    if (JSON.stringify(params).length > limits.maxAskBytes)
      return `it is larger than ${limits.maxAskBytes} bytes`;
    // Who only passes it on passes all of it on.
    const whole = passes ? { params } : {};
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

  /** One at a time: the next is put when the host's function has settled, not when it has been given up. */
  async #put(
    kind: RequestKind,
    question: Question,
    {
      signal,
      turns,
      confirm,
    }: Pick<AskOptions, 'signal'> & Pick<Pace, 'turns'> & Pick<Respondent, 'confirm'>,
  ): Promise<Outcome> {
    const { limits } = this.#options;
    const over = new AbortController();
    const timer = setTimeout(() => over.abort('timeout'), timerDelay(limits.askTimeoutMs)).unref();
    const cancel = (): void => over.abort('cancelled');
    onAbort(signal, cancel);
    if (signal?.aborted) cancel();
    try {
      if (!turns.tryEnter()) {
        const turn = turns.enter(undefined, over.signal);
        if (turn === undefined)
          return this.#end(kind, { outcome: 'limited', reason: 'too many questions wait' });
        await turn;
      }
      if (over.signal.aborted) {
        turns.leave();
        throw over.signal.reason;
      }
      const asking = Promise.resolve()
        .then(() => question.ask(over.signal))
        .finally(() => turns.leave());
      const checked = question.check(await until(asking, over.signal));
      if ('result' in checked) await confirm?.(checked.result);
      return this.#settle(kind, checked);
    } catch (thrown) {
      return this.#end(kind, this.#unanswered(over.signal), thrown);
    } finally {
      clearTimeout(timer);
      offAbort(signal, cancel);
      over.abort('over');
    }
  }

  #settle(kind: RequestKind, checked: Checked): Outcome {
    if ('result' in checked) {
      const { result, declined } = checked;
      return this.#end(kind, { outcome: declined === true ? 'declined' : 'answered', result });
    }
    const { reason, own } = checked;
    return own
      ? this.#end(kind, { outcome: 'failed', reason: FAILED }, new Error(reason))
      : this.#end(kind, { outcome: 'refused', reason });
  }

  #unanswered(over: AbortSignal): Outcome {
    if (over.reason === 'timeout')
      return {
        outcome: 'declined',
        reason: `nobody answered within ${this.#options.limits.askTimeoutMs} ms`,
      };
    return { outcome: 'failed', reason: over.reason === 'cancelled' ? 'it was cancelled' : FAILED };
  }

  #end(kind: RequestKind, outcome: Outcome, cause?: unknown): Outcome {
    const told = outcome.outcome === 'not-offered' ? 'refused' : outcome.outcome;
    const why = outcome.result === undefined ? outcome.reason : undefined;
    // The host's own failure is for the host to read; the server is only told that there was one.
    this.#tell(kind, told, why === FAILED && cause instanceof Error ? cause.message : why);
    return outcome;
  }

  #tell(
    kind: RequestKind,
    outcome: Exclude<Outcome['outcome'], 'not-offered'>,
    reason: string | undefined,
  ): void {
    this.#options.events.emit('server.asked', { server: this.server, kind, outcome, reason });
  }
}

const FAILED = 'the host failed to answer';

/** The params of a request, whatever was written in their place. */
export const paramsOf = (params: unknown): Raw => (isRecord(params) ? params : {});

async function until<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  work.catch(() => {});
  let give: (() => void) | undefined;
  const over = new Promise<never>((_, reject) => {
    give = () => reject(signal.reason);
    signal.addEventListener('abort', give, { once: true });
    if (signal.aborted) give();
  });
  try {
    return await Promise.race([work, over]);
  } finally {
    if (give !== undefined) signal.removeEventListener('abort', give);
  }
}
